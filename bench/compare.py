"""The kernels on two commits: `python -m bench.compare BASE`.

Checks BASE out into a temporary work tree and runs this tree's kernels (bench/kernels/) on both, with this interpreter,
one commit after the other. A kernel that BASE has no code for is left out of the comparison, and named.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]

#: pytest with the code of one commit: an editable installation would give this repository's modules to a commit that
#: has none of that name.
_PYTEST = (
    "import sys; code, ours, *arguments = sys.argv[1:]; "
    "sys.path[:] = [code, *(path for path in sys.path if path != ours)]; "
    "import pytest; sys.exit(pytest.main(arguments))"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit to compare with, as in HEAD~3 or a tag")
    parser.add_argument("--only", default="", help="kernels whose names match, as pytest -k has it")
    parser.add_argument("--sort", default="name", help="column of the table to sort by")
    given = parser.parse_args()
    known = _git("rev-parse", "--verify", "--quiet", f"{given.base}^{{commit}}")
    if known.returncode:
        print(f"{given.base!r} is no commit of this repository; give one, as in BASE=HEAD~3.", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="incoop-compare-"))
    tree = folder / "base"
    try:
        added = _git("worktree", "add", "--quiet", "--detach", str(tree), known.stdout.strip())
        if added.returncode:
            print(f"{given.base} cannot be checked out: {added.stderr.strip()}", file=sys.stderr)
            return 1
        shutil.copytree(REPOSITORY / "bench" / "kernels", folder / "kernels")
        base, here = folder / "0_base.json", folder / "1_here.json"
        if _run(folder, tree, base, given.only):
            print(f"above: kernels that {given.base} cannot run; they are left out below.", file=sys.stderr)
        if _run(folder, REPOSITORY, here, given.only):
            print("above: a kernel that fails on the code that is checked out.", file=sys.stderr)
            return 1
        files = [str(path) for path in (base, here) if path.exists() and path.stat().st_size]
        show = ["compare", f"--sort={given.sort}", "--group-by=name", "--columns=median,min,max,rounds", *files]
        return subprocess.run([sys.executable, "-m", "pytest_benchmark", *show]).returncode
    finally:
        _git("worktree", "remove", "--force", str(tree))
        shutil.rmtree(folder, ignore_errors=True)


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True)


def _run(folder: Path, code: Path, results: Path, only: str) -> int:
    """Run the kernels on the code in a folder; the exit code."""
    print(f"kernels on {code} ...", file=sys.stderr)
    settings = ["-o", "python_files=bench_*.py", "-o", "addopts=", "-p", "no:cacheprovider", "-q", "--no-header"]
    chosen = ["-k", only] if only else []
    command = [sys.executable, "-c", _PYTEST, str(code), str(REPOSITORY), *settings, *chosen]
    command += ["--continue-on-collection-errors", "--rootdir", str(folder), "--tb=line"]
    command += ["--benchmark-quiet", f"--benchmark-json={results}"]
    # For processes that a kernel starts: before what is installed, which is this repository.
    surroundings = {**os.environ, "PYTHONPATH": str(code), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*command, "kernels"], cwd=folder, env=surroundings, stdout=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
