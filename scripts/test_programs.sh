#!/bin/sh
# Programs that some tests run beside incoop, or ask for a second opinion, and that pip cannot bring: log daemons with
# configurations of the tests' own, a program that counts the same logs, a browser. Installs what is missing where it may (apt as
# root); elsewhere, or when that fails, says so, and the tests that need them are skipped. The services of these
# packages are not started. Never fails.
set -u

PATH="$PATH:/usr/sbin:/usr/local/sbin"
packages=""
need() { command -v "$1" >/dev/null || packages="$packages $2"; }
need rsyslogd rsyslog
need nginx nginx-light
need logrotate logrotate
need goaccess goaccess
command -v chromium-browser >/dev/null || need chromium chromium
[ -n "$packages" ] || exit 0

say() { printf '%s\n' "$*" >&2; }

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say "Not installed:$packages. Tests that need them are skipped (on Debian or Ubuntu: sudo apt-get install$packages)."
    exit 0
fi

# Debian starts a service when it is installed, unless this file says no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && trap 'rm -f "$policy"' EXIT
fi
# shellcheck disable=SC2086 # one argument a package
if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages; } >/dev/null 2>&1; then
    say "Installed for the tests:$packages."
else
    say "apt-get could not install$packages: tests that need them are skipped."
fi
exit 0
