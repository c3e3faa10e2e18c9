#!/bin/sh
# Run the tests that depend on Python's version on each of the versions named, where it is installed: compiled code is
# read differently by each, and stores written by one must never mix with those of another.
# Usage: test_pythons.sh 3.12 3.13. Each version has a virtual environment of its own, .venv-3.12 and so on. Exits with 1
# if any failed; a version that is missing is told.
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

set_up() { # version python
    if [ ! -f ".venv-$1/ready" ] || [ pyproject.toml -nt ".venv-$1/ready" ]; then
        "$2" -m venv ".venv-$1" &&
            ".venv-$1/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[dev]' &&
            touch ".venv-$1/ready"
    fi
}

# The private Redis server of this project's own environment, for versions whose packages bring none.
server=$("${VENV:-.venv}/bin/python" -c 'from incoop.memo.binary import find_server; print(find_server().path)' 2>/dev/null)
[ -n "$server" ] && PATH="$PATH:$(dirname "$server")"
export PATH

failed=0
for version in "$@"; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        echo "Python $version is not installed here: not tested."
        continue
    fi
    echo "== Python $version ($python)"
    # shellcheck disable=SC2086 # one argument a folder
    if ! { set_up "$version" "$python" && ".venv-$version/bin/python" -m pytest -n "${JOBS:-2}" --dist loadfile $tests; }; then
        failed=1
    fi
done
exit $failed
