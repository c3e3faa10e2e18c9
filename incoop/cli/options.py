"""Options that every subcommand shares, declared once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

#: Where datasets, packs and the private Redis live unless told otherwise.
DEFAULT_STORE = "incoop-store"


def store_option(command: Command) -> Command:
    """`--store DIR`, also read from INCOOP_STORE."""
    return click.option(
        "--store",
        type=click.Path(path_type=Path),
        default=DEFAULT_STORE,
        envvar="INCOOP_STORE",
        show_default=True,
        show_envvar=True,
        help="Folder that holds datasets, memo and packs.",
    )(command)


def memo_option(command: Command) -> Command:
    """`--memo URL`, also read from INCOOP_MEMO."""
    return click.option(
        "--memo",
        metavar="URL",
        default=None,
        envvar="INCOOP_MEMO",
        show_envvar=True,
        help="redis://, rediss:// or unix:// address; by default a private server inside the store.",
    )(command)
