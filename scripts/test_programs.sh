#!/bin/sh
# Programs that some tests ask for a second opinion, and that pip cannot bring. Installs those that are missing where it
# may (apt as root); else the tests that need them are skipped, and this says so. Never fails.
set -u

say() { printf '%s\n' "$*" >&2; }

# Command and Debian package are of one name.
for program in goaccess; do
    command -v "$program" >/dev/null && continue
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null &&
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$program"; } >/dev/null 2>&1; then
        say "Installed $program for the tests."
    else
        say "$program is not installed: the tests that compare with it are skipped (apt-get install $program)."
    fi
done
exit 0
