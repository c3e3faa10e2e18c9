"""The `incoop` command: runs it, and turns what ended it into one sentence and an exit code.

Contract: exit code 0, 1 for a failed job, 2 for a wrong call, 130 after Ctrl-C; results on standard output, everything
else on standard error; no traceback but a user's.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

from incoop.cli.ending import Ending


def main() -> None:
    """Run the command line, and end the process."""
    ending = Ending()
    try:
        ending.begin()
        ending.exit_code = _run()
        ending.is_over = True
    except KeyboardInterrupt:
        ending.is_over = True
        ending.exit_code = 130
        with suppress(OSError):  # the terminal may be gone
            sys.stderr.write("incoop: interrupted; what was finished is kept\n")
    except SystemExit as ended:
        ending.is_over = True
        ending.exit_code = ended.code
    sys.exit(ending.exit_code)


def _run() -> Any:
    """The exit code of what the command line says."""
    # What is imported here is imported where Ctrl-C is heard.
    import io

    import click

    from incoop.base.errors import BadCall, IncoopError
    from incoop.base.garbage import collect_seldom
    from incoop.base.shown import escaped, shortened, without_passwords
    from incoop.cli.commands import cli
    from incoop.cli.say import say

    collect_seldom()
    try:
        # Out of standalone mode click gives an exit code back, where a command ended with one.
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
        return code
    except click.ClickException as wrong_call:
        told = io.StringIO()
        wrong_call.show(told)
        click.echo(escaped(shortened(without_passwords(told.getvalue()))), nl=False, err=True)
        return wrong_call.exit_code
    except click.Abort as interrupted:
        raise KeyboardInterrupt from interrupted
    except BrokenPipeError:
        # The reader (`| head`) has left: stop quietly, and keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except IncoopError as error:
        say(f"incoop: {shortened(str(error))}", err=True)
        return 2 if isinstance(error, BadCall) else 1
    except OSError as error:
        say(f"incoop: {shortened(_refused(error))}", err=True)
        _leave_output()
        return 1
    except MemoryError:
        say(
            "incoop: there is not enough memory. Free some, or give smaller chunks (--average); nothing is lost.",
            err=True,
        )
        return 1


def _refused(error: OSError) -> str:
    """What the system would not do, and what to do about it."""
    where = f" ({error.filename})" if error.filename else ""
    return (
        f"the system refused{where}: {error.strerror or error}. What was finished is kept; free some room, or mend the "
        "path or its permissions, and repeat."
    )


def _leave_output() -> None:
    """Keep Python from trying once more, at its end, to write what could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
