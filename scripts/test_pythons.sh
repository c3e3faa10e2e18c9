#!/bin/sh
# Run the tests that depend on Python's version on each of the versions named, where it is installed: compiled code is
# read differently by each, and stores written by one must never mix with those of another.
# Usage: JOBS=2 test_pythons.sh 3.12 3.13, with JOBS processes a version. Each has a virtual environment of its own:
# .venv-3.12 and so on. Exits with 1 if any failed; a version that is missing is told.
set -u

tests="tests/fingerprint tests/contract tests/memo tests/trust/test_ambient.py tests/trust/test_captured_objects.py"

find_python() {
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1"*/bin/python; do
        # A shim of pyenv may stand for a version that is not chosen, so it is tried.
        if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

# Only what is imported is compiled: compiling all that is installed takes as long as installing it.
set_up() { # version python
    if [ ! -f ".venv-$1/ready" ] || [ pyproject.toml -nt ".venv-$1/ready" ]; then
        "$2" -m venv ".venv-$1" &&
            ".venv-$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]' &&
            ".venv-$1/bin/python" scripts/compile_imports.py &&
            touch ".venv-$1/ready"
    fi
}

# The private Redis server of this project's own environment, for versions whose packages bring none.
server=$("${VENV:-.venv}/bin/python" -c 'from incoop.memo.binary import find_server; print(find_server().path)' 2>/dev/null)
[ -n "$server" ] && PATH="$PATH:$(dirname "$server")"
export PATH

said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
# What runs in the background does not hear Ctrl-C.
trap 'trap - TERM; kill 0' INT TERM

# Side by side, too: installing keeps one processor busy.
wanted=""
for version in "$@"; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        echo "Python $version is not installed here: not tested."
    else
        wanted="$wanted $version"
        { set_up "$version" "$python" && touch "$said/$version.ready"; } &
    fi
done
wait

failed=0
ready=""
for version in $wanted; do
    if [ -f "$said/$version.ready" ]; then
        ready="$ready $version"
    else
        echo "== Python $version: its environment could not be set up (above)"
        failed=1
    fi
done

# Side by side: these tests wait for servers and disks most of the time. What each says is shown when all are done.
for version in $ready; do
    # shellcheck disable=SC2086 # one argument a folder
    { ".venv-$version/bin/python" -m pytest -n "${JOBS:-2}" --dist loadfile -m 'not endurance' $tests \
        >"$said/$version" 2>&1 && touch "$said/$version.passed"; } &
done
wait
for version in $ready; do
    echo "== Python $version"
    cat "$said/$version"
    [ -f "$said/$version.passed" ] || failed=1
done
exit $failed
