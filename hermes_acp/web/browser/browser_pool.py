"""The browsers of all sessions, each in a separate process.

The process gets a cleared environment and a private home folder, which is deleted with it. One action runs at a time;
interrupting an action closes the browser, because its state is then unknown.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import anyio
import msgspec
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.to_thread import run_sync

from hermes_acp.core.errors import InternalError, WorkspaceError
from hermes_acp.core.ports.web_ports import BrowserAction, BrowserFile, BrowserSnapshot
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts

if TYPE_CHECKING:
    from anyio.abc import Process

NAMES: Final = (
    "chromium-headless-shell",  # without the invisible window, it starts with a quarter of the work
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "microsoft-edge",
)
MAC_PROGRAMS: Final = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
ACTION_TIMEOUT_S: Final = 90.0
MAX_LINE_BYTES: Final = 32 << 20
MAX_OPEN_BROWSERS: Final = 8
PASSED_ON: Final = ("LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH", "FONTCONFIG_FILE", "PLAYWRIGHT_NODEJS_PATH")


def find_browser(named: str | None, folders: Sequence[str]) -> str | None:
    """Return the path to Chromium: the configured one, or else one in the program folders."""
    if find_spec("playwright") is None:
        return None
    if named:
        return named if os.access(named, os.X_OK) else None
    wanted = [os.path.join(folder, name) for name in NAMES for folder in folders if os.path.isabs(folder)]
    return next((path for path in (*wanted, *MAC_PROGRAMS) if os.access(path, os.X_OK)), None)


class OpenBrowser:
    """A running browser."""

    def __init__(self, process: "Process", home: str, shutdown_grace_s: float) -> None:
        if process.stdin is None or process.stdout is None:
            raise InternalError("A browser's process was started without pipes.")
        self._process = process
        self._home = home
        self._shutdown_grace_s = shutdown_grace_s
        self._input = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)
        self.turns = anyio.Lock()

    async def send(self, message: object) -> None:
        """Send a line. Raises WorkspaceError if the browser is gone."""
        try:
            await self._input.send(json.dumps(message).encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise _gone() from None

    async def receive(self) -> dict[str, Any]:
        """Wait for a line. Raises WorkspaceError if the browser is gone."""
        try:
            line = await self._lines.receive_until(b"\n", MAX_LINE_BYTES)
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound, anyio.ClosedResourceError):
            raise _gone() from None
        return json.loads(line)

    async def close(self) -> None:
        """Kill the browser and everything that it started; on return, no such process is left."""
        with anyio.CancelScope(shield=True):
            await self._input.aclose()
            with anyio.move_on_after(self._shutdown_grace_s):
                await self._process.wait()
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.aclose()
            await run_sync(lambda: shutil.rmtree(self._home, ignore_errors=True))


class BrowserPool:
    """The open browsers, by session."""

    def __init__(
        self,
        executable: str,
        private_hosts: frozenset[str],
        variables: Mapping[str, str],
        timeouts: BrowserTimeouts | None = None,
    ) -> None:
        """Initialise without opening a browser. Only non-secret variables that it needs are passed to its process."""
        self._executable = executable
        self._private_hosts = private_hosts
        self._timeouts = timeouts or BrowserTimeouts()
        self._variables = {name: variables[name] for name in PASSED_ON if name in variables}
        self._open: dict[str, OpenBrowser] = {}
        self._opening = anyio.Lock()

    async def act(
        self, session_id: str, act: BrowserAction, may_redirect: Callable[[str, str], bool]
    ) -> BrowserSnapshot:
        """Perform an action in the session's browser; a browser in an unknown state is closed.

        Raises WorkspaceError.
        """
        if act.kind == "close":
            await self.close(session_id)
            return BrowserSnapshot(notes=("The browser is closed.",))
        try:
            with anyio.fail_after(ACTION_TIMEOUT_S):
                browser = await self._browser(session_id, act)
                async with browser.turns:
                    return await self._act_in(browser, act, may_redirect)
        except TimeoutError:
            await self.close(session_id)
            raise WorkspaceError(
                f"The browser did not answer within {ACTION_TIMEOUT_S:g} s and was closed.",
                hint="Navigate again.",
            ) from None
        except (_Gone, anyio.get_cancelled_exc_class()):
            await self.close(session_id)
            raise

    async def close(self, session_id: str) -> None:
        """Close a session's browser, if it has one."""
        browser = self._open.pop(session_id, None)
        if browser:
            await browser.close()

    async def release(self, session_id: str) -> None:
        """Close the browsers of a session and its child agents."""
        below = f"{session_id}."
        for name in [name for name in self._open if name == session_id or name.startswith(below)]:
            await self.close(name)

    async def _browser(self, session_id: str, act: BrowserAction) -> OpenBrowser:
        async with self._opening:
            if session_id not in self._open:
                if act.kind != "navigate":
                    raise WorkspaceError("No page is open.", hint="Navigate to one first.")
                if len(self._open) >= MAX_OPEN_BROWSERS:
                    raise WorkspaceError(
                        f"{MAX_OPEN_BROWSERS} browsers are already open.",
                        hint="Close one in another session.",
                    )
                self._open[session_id] = await self._start()
                await self._greet(self._open[session_id])
            return self._open[session_id]

    async def _start(self) -> OpenBrowser:
        home = await run_sync(lambda: tempfile.mkdtemp(prefix="hermes-browser-"))
        environment = {**self._variables, "HOME": home, "TMPDIR": home, "PATH": os.defpath}
        command = [sys.executable, "-I", "-m", "hermes_acp.web.browser.browser_driver"]
        process = await anyio.open_process(
            command, stderr=subprocess.DEVNULL, cwd=home, env=environment, start_new_session=True
        )
        return OpenBrowser(process, home, self._timeouts.shutdown_grace_s)

    async def _greet(self, browser: OpenBrowser) -> None:
        await browser.send(
            {
                "executable": self._executable,
                "private_hosts": sorted(self._private_hosts),
                "timeouts": msgspec.to_builtins(self._timeouts),
            }
        )
        answer = await browser.receive()
        if "broken" in answer:
            raise _Gone(
                f"The browser {self._executable} did not start: {answer['broken']}", hint="Tell the user."
            )

    async def _act_in(
        self, browser: OpenBrowser, act: BrowserAction, may_redirect: Callable[[str, str], bool]
    ) -> BrowserSnapshot:
        await browser.send(_sent(act))
        while True:
            match await browser.receive():
                case {"ask": [str(host), str(url)]}:
                    await browser.send(may_redirect(host, url))
                case {"view": view}:
                    return _view(view)
                case {"error": str(why), "notes": notes}:
                    return BrowserSnapshot(
                        trouble=f"{why} {_advice(act)}".strip(), notes=tuple(map(str, notes))
                    )
                case _:
                    raise _gone()


class _Gone(WorkspaceError):
    """The browser's process is gone or unusable."""


def _gone() -> _Gone:
    return _Gone("The browser has ended unexpectedly.", hint="Navigate again to open a new one.")


def _sent(act: BrowserAction) -> dict[str, object]:
    """Return an action as it is sent to the process."""
    sent = msgspec.structs.asdict(act)
    if act.file:
        sent["file"] = {"name": act.file.name, "content": b64encode(act.file.content).decode()}
    return sent


def _advice(act: BrowserAction) -> str:
    if act.ref and act.kind not in ("upload", "download"):
        return "Take a snapshot: refs are only valid for the last one."
    return "Check the address." if act.kind == "navigate" else ""


def _view(view: Mapping[str, Any]) -> BrowserSnapshot:
    return BrowserSnapshot(
        url=str(view["url"]),
        title=str(view["title"]),
        text=str(view["text"]),
        image=b64decode(view["image"]),
        notes=tuple(map(str, view["notes"])),
        download=_file(view["download"]),
    )


def _file(download: Mapping[str, Any] | None) -> BrowserFile | None:
    return BrowserFile(str(download["name"]), b64decode(download["content"])) if download else None
