#!/bin/sh
# What the tests of `incoop ingest` run beside it: rsyslog, nginx and logrotate, with configurations of the tests' own.
# Installs what is missing where it may (apt as root); elsewhere, or when that fails, says so, and those tests are
# skipped. The services of these packages are not started.
set -u

PATH="$PATH:/usr/sbin:/usr/local/sbin"
packages=""
need() { command -v "$1" >/dev/null || packages="$packages $2"; }
need rsyslogd rsyslog
need nginx nginx-light
need logrotate logrotate
[ -n "$packages" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "Not installed:$packages. Tests with real log daemons are skipped (on Debian or Ubuntu: sudo apt-get install$packages)." >&2
    exit 0
fi

# Debian starts a service when it is installed, unless this file says no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && trap 'rm -f "$policy"' EXIT
fi
# shellcheck disable=SC2086 # one argument a package
if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages; } >&2; then
    echo "apt-get could not install$packages: tests with real log daemons are skipped." >&2
fi
