"""Debian's Chromium without a window, as the tests of the page drive it: DevTools' protocol over two pipes.

No driver has to be installed for that: a message is JSON, ended by a zero byte.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)

#: A browser that says nothing for so long hangs.
_PATIENCE = 60.0


@dataclass
class Visit:
    """One page, as it was loaded."""

    browser: Browser
    session: str
    #: Messages of the console, errors of scripts, whatever the log says.
    complaints: list[str] = field(default_factory=list)
    #: Addresses that were asked for.
    requests: list[str] = field(default_factory=list)

    def ask(self, expression: str) -> Any:
        """What JavaScript says of the page; also where the page itself may run none."""
        given = self.browser.call("Runtime.evaluate", self.session, expression=expression, returnByValue=True)
        assert "exceptionDetails" not in given, given
        return given["result"].get("value")

    def picture(self, path: Path) -> None:
        shot = self.browser.call("Page.captureScreenshot", self.session, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


class Browser:
    """One process; `visit` opens a page in a tab of its own."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        # Above the numbers that the browser expects them under.
        lower = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 20) for each in (commands, answers)]
        os.close(commands), os.close(answers)
        quiet = os.open(os.devnull, os.O_RDWR)
        words = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        words += [f"--user-data-dir={folder / 'profile'}", "--disable-dev-shm-usage", "--no-first-run", "about:blank"]
        numbers = {0: quiet, 1: quiet, 2: quiet, 3: lower[0], 4: lower[1]}
        given = [(os.POSIX_SPAWN_DUP2, at, to) for to, at in numbers.items()]
        # It leaves files in the user's folders, and in the one where these tests look for what was left.
        homes = {name: str(folder) for name in ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self._process = os.posix_spawn(CHROMIUM, words, os.environ | homes, file_actions=given, setpgroup=0)
        for each in (*lower, quiet):
            os.close(each)
        self._targets: list[str] = []
        self._number, self._rest, self._heard = 0, b"", list[dict[str, Any]]()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._in), os.close(self._out)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": session} if session is not None else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                given: dict[str, Any] = answer["result"]
                return given
            self._heard.append(answer)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "Chromium does not answer"
            got = os.read(self._in, 1 << 20)
            assert got, "Chromium ended"
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def visit(self, url: str, *, width: int = 1280, dark: bool = False, scripts: bool = True) -> Visit:
        """Load a page, and note what it asks for and complains of."""
        while len(self._targets) > 1:  # two visits are compared, more only take memory
            self.call("Target.closeTarget", targetId=self._targets.pop(0))
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._targets.append(target)
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for area in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{area}.enable", session)
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", session, **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", session, features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", session, value=not scripts)
        self._heard.clear()
        self.call("Page.navigate", session, url=url)
        visit = Visit(self, session)
        while not any(each["method"] == "Page.loadEventFired" for each in self._heard):
            self._heard.append(self._next())
        visit.ask("document.title")  # what was said until now is heard
        for each in self._heard:
            match each["method"]:
                case "Network.requestWillBeSent":
                    visit.requests.append(each["params"]["request"]["url"])
                case "Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                    visit.complaints.append(json.dumps(each["params"]))
        return visit


@contextmanager
def a_browser() -> Iterator[Browser]:
    with tempfile.TemporaryDirectory(prefix="incoop-browser-", ignore_cleanup_errors=True) as folder:
        browser = Browser(Path(folder))
        try:
            yield browser
        finally:
            browser.close()
