#!/bin/sh
# Programs that only tests need, and that pip cannot bring: Chromium, in which the report page is looked at. Installs
# what is missing where it may (apt as root). Never fails: tests without their program are skipped, and say so.
set -u

say() { printf '%s\n' "$*" >&2; }

missing=""
have() { command -v "$1" >/dev/null; }

have chromium || have chromium-browser || missing="$missing chromium"

[ -z "$missing" ] && exit 0
if [ "$(id -u)" -eq 0 ] && have apt-get; then
    say "Missing for some tests:$missing. Installing ..."
    # shellcheck disable=SC2086 # one argument a package
    if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing; } >/dev/null 2>&1; then
        exit 0
    fi
fi
say "Some tests will be skipped: they need$missing, which could not be installed."
