"""What commands print: escaped, so that no name or content commands the terminal."""

from __future__ import annotations

import logging
import sys

import click

from incoop.base.shown import escaped, without_passwords


def say(text: str, *, err: bool = False) -> None:
    """Print a text for people."""
    click.echo(escaped(without_passwords(text)), err=err)


def for_output(text: str) -> str:
    """A line of results: as it is in a file or a pipe, escaped on a terminal."""
    return escaped(text) if sys.stdout.isatty() else text


class EscapingFormatter(logging.Formatter):
    """For log lines, which hold names of files and jobs, too."""

    def format(self, record: logging.LogRecord) -> str:
        return escaped(without_passwords(super().format(record)))
