"""Headless Chromium, asked by the DevTools protocol through a pipe: no driver, nothing to install.

``chromium()`` finds the program. A ``Browser`` opens pages, evaluates scripts in them, takes
pictures of them, and keeps what a page complained of.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
# Its pipes as file descriptors 3 and 4, and then the program in the place of Python.
START = """
import fcntl, os, sys
for given, wanted in zip([fcntl.fcntl(int(x), fcntl.F_DUPFD, 10) for x in sys.argv[1:3]], (3, 4)):
    os.dup2(given, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""
SECONDS = 30.0  # that a page, or a script, may take
_ASKED = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}


def chromium() -> str | None:
    """Return the path of a Chromium or a Chrome, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser, in a process of its own with a profile that nobody keeps.

    Commands go to the file descriptor 3 of the process, and answers come from its 4, each with a
    zero byte at its end.
    """

    def __init__(self, program: str) -> None:
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        read, self.commands = os.pipe()
        self.answers, write = os.pipe()
        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(read), str(write), *command],
            pass_fds=(read, write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read)
        os.close(write)
        self.pending = b""
        self.events: list[dict] = []
        self.complaints: list[str] = []
        self.count = 0
        self.session: str | None = None
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        """Take the one page that there is, and ask to be told of what happens in it."""
        targets = self.ask("Target.getTargets")["targetInfos"]
        (target,) = [x["targetId"] for x in targets if x["type"] == "page"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and remove its profile."""
        self.session = None
        with contextlib.suppress(OSError, TimeoutError):
            self.ask("Browser.close")
        os.close(self.commands)
        os.close(self.answers)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def size(self, width: int, height: int = 900) -> None:
        """Give the window this size, in pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def prefer(self, scheme: str) -> None:
        """Say that the system is "dark" or "light"."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.ask("Emulation.setEmulatedMedia", features=[feature])

    def open(self, address: str) -> None:
        """Open a page, and return when it and all that it refers to have been loaded."""
        self.events, self.complaints = [], []
        answer = self.ask("Page.navigate", url=address)
        assert "errorText" not in answer, (address, answer["errorText"])
        while not any(x["method"] == "Page.loadEventFired" for x in self.events):
            self.events.append(self._message())

    def evaluate(self, script: str) -> Any:
        """Return what a script gives in the page; it waits for a promise."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path: Path) -> None:
        """Store what the window shows as a PNG file."""
        answer = self.ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    def ask(self, method: str, **given: object) -> dict:
        """Return the answer to a command of the protocol."""
        self.count += 1
        message: dict = {"id": self.count, "method": method, "params": given}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _message(self) -> dict:
        """Return the next answer or event; complaints of the page are kept."""
        until = time.monotonic() + SECONDS
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self.answers, 1 << 16) if ready else b""
            if not more:
                raise TimeoutError("Chromium does not answer" if not ready else "Chromium is gone")
            self.pending += more
        text, _, self.pending = self.pending.partition(b"\0")
        message = json.loads(text)
        if message.get("method") in _ASKED and (complaint := _complaint(message["params"])):
            self.complaints.append(complaint)
        return message


def _complaint(event: dict) -> str:
    """Return the text of an error, of an event that may tell of one."""
    if "exceptionDetails" in event:
        details = event["exceptionDetails"]
        return details.get("exception", {}).get("description") or details["text"]
    if "entry" in event:
        entry = event["entry"]
        return f"{entry['text']} {entry.get('url', '')}" if entry["level"] == "error" else ""
    if event["type"] in ("error", "assert"):
        return " ".join(str(x.get("value", x.get("description"))) for x in event["args"])
    return ""
