"""Running the commands of hooks: input and errors on separate pipes, with or without a sandbox."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hermes_acp.config.sections.hook_settings import HookSettings
from hermes_acp.config.workspace_settings import HookEntry
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.trust_ports import TrustItem
from hermes_acp.hooks.hook_commands import HookCommands
from hermes_acp.hooks.hook_definitions import Hook
from hermes_acp.workspaces.backends.local import SandboxSetup
from hermes_acp.workspaces.configured_commands import CommandSurroundings
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import (
    DetectedSandbox,
    SandboxMechanism,
    detect_landlock,
)
from tests.attacks.sandboxes import WAYS, require, usual_bounds

pytestmark = pytest.mark.anyio
LINE = "cat; echo oops >&2; echo beside > beside; exit 3"


def hook(line: str, *, is_shared: bool, timeout_s: float = 30.0) -> Hook:
    settings = HookSettings(event="after_tool", command=line, timeout_s=timeout_s)
    item = TrustItem("hook", "h", "")
    return Hook("h", settings, HookEntry("file", "h", settings, item) if is_shared else None)


@asynccontextmanager
async def commands_in(place: Path, setup: SandboxSetup) -> AsyncGenerator[HookCommands]:
    (place / "project").mkdir()
    variables = {"PATH": os.defpath, "HOME": str(place), "HERMES_ACP_HOOK": "1"}
    commands = HookCommands(
        CommandSurroundings(variables, str(place / "private"), lambda: setup),
        str(place / "project"),
        (str(place / "project"),),
    )
    try:
        yield commands
    finally:
        await commands.close()


@pytest.mark.parametrize("way", [*WAYS, "none"])
async def test_input_output_errors_and_exit_code(tmp_path: Path, way: SandboxMechanism) -> None:
    setup = SandboxSetup(usual_bounds)
    if way != "none":
        found = detect_landlock if way == "landlock" else setup.find
        require(way, found({"PATH": os.defpath}, ()))
        setup = SandboxSetup(usual_bounds, find=found)
    given = b"x" * 300_000
    async with commands_in(tmp_path.resolve(), setup) as commands:
        ended = await commands.run(hook(LINE, is_shared=way != "none"), given)
    assert (ended.exit_code, ended.timed_out) == (3, False)
    assert ended.output.startswith("xxx")
    assert "oops" not in ended.output
    assert ended.errors == "oops\n"
    assert (tmp_path / "project" / "beside").exists()


async def test_without_a_sandbox_a_projects_hook_does_not_run(tmp_path: Path) -> None:
    def nothing(*_: object) -> DetectedSandbox:
        return DetectedSandbox("none", remark="There is none.")

    async with commands_in(tmp_path.resolve(), SandboxSetup(usual_bounds, find=nothing)) as commands:
        with pytest.raises(WorkspaceError, match="could not be sandboxed"):
            await commands.run(hook("touch ran", is_shared=True), b"")
        await commands.run(hook("touch own", is_shared=False), b"")
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["own"]


async def test_background_processes_block_nothing_and_end_with_the_session(tmp_path: Path) -> None:
    line = "sleep 1000 & echo $! > pid"
    async with commands_in(tmp_path.resolve(), SandboxSetup(usual_bounds)) as commands:
        ended = await commands.run(hook(line, is_shared=False), b"")
        pid = (tmp_path / "project" / "pid").read_text().strip()
        assert ended.exit_code == 0
        assert os.path.exists(f"/proc/{pid}")
    assert not os.path.exists(f"/proc/{pid}")
