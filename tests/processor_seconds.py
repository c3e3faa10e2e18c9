"""Which tests take the processor: `pytest -p tests.processor_seconds` prints seconds a file, and the dearest tests.

Contract: each test process is in a control group of its own, so that all that tests start counts, JVMs, daemons and
what ended long ago included. What is shared, such as Spark, counts for the first test that asks for it. Who may not
make a group (who is not root) is told so, and sees only the test processes and what they have waited for.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from pathlib import Path

import pytest

NAME = "processor seconds"
DEAREST = 40

#: Where control groups are, in their first version and in their second, and what says how much one has used.
_GROUPS = ((Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage"), (Path("/sys/fs/cgroup"), "cpu.stat"))


class Meter:
    """Seconds of the processor that this process, and all that it starts from now on, have used."""

    def __init__(self) -> None:
        self.group = self._own_group()
        self._before = self._used()

    def _own_group(self) -> Path | None:
        for root, usage in _GROUPS:
            group = root / f"incoop-tests-{os.getpid()}"
            with contextlib.suppress(OSError):
                group.mkdir()
                (group / "cgroup.procs").write_text(str(os.getpid()))
                if (group / usage).exists():
                    return group / usage
        return None

    def _used(self) -> float:
        if self.group is None:
            return sum(os.times()[:4])
        said = self.group.read_text().split()
        return int(said[0]) / 1e9 if len(said) == 1 else int(said[1]) / 1e6

    def since(self) -> float:
        """What was used since this was asked last."""
        before, self._before = self._before, self._used()
        return self._before - before


class Measuring:
    """In a process that runs tests."""

    def __init__(self) -> None:
        self.meter = Meter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item):  # type: ignore[no-untyped-def]
        report = yield
        report.user_properties.append((NAME, [self.meter.since(), self.meter.group is not None]))
        return report


class Telling:
    """In the process that prints."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()
        self.count: Counter[str] = Counter()
        self.whole = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self.count[file] += report.when == "call"
        for name, said in report.user_properties:
            if name == NAME:
                seconds, whole = said  # type: ignore[misc]
                self.files[file] += seconds
                self.tests[report.nodeid] += seconds
                self.whole = self.whole and whole

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.write_line
        terminalreporter.section(NAME if self.whole else f"{NAME} (without what nobody waited for: not root)")
        for file, seconds in self.files.most_common():
            write(f"{seconds:8.1f} {self.count[file]:5} {file}")
        write(f"{self.files.total():8.1f} {self.count.total():5} in all; the dearest tests:")
        for test, seconds in self.tests.most_common(DEAREST):
            write(f"{seconds:8.1f}       {test}")


def pytest_configure(config: pytest.Config) -> None:
    worker = hasattr(config, "workerinput")
    if not worker:
        config.pluginmanager.register(Telling())
    if worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Measuring())
