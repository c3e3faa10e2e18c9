"""`incoop doctor`: what is missing on this machine, and how to get it."""

from __future__ import annotations

from pathlib import Path

import click

from incoop.cli.options import report_option, show_report, store_option
from incoop.cli.say import say
from incoop.maintenance.machine import examined


@click.command()
@store_option
@report_option
def doctor(store: Path, report: str) -> None:
    """Say what is missing on this machine, and how to get it.

    The exit code is 0 when everything is there, else 1.

    \b
    Example:
      incoop doctor
    """
    findings = examined(store)
    for finding in findings:
        say(f"{'ok     ' if finding.good else 'MISSING'}  {finding.what}: {finding.says}")
    healthy = all(finding.good for finding in findings)
    facts = {"healthy": healthy, "missing": [finding.what for finding in findings if not finding.good]}
    show_report(report, facts, "Everything is there." if healthy else "Mend what is missing, then repeat.")
    if not healthy:
        raise click.exceptions.Exit(1)
