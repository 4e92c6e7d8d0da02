"""Invalid settings and keys of every kind: one clear sentence for the user, and an agent that keeps running."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks.attack_checks import STILL_HERE, check_nobody_survived, check_wire
from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import editor, prompt_params
from tests.model_server import Script, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]

LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
TEXTS: dict[str, bytes] = {
    "an open bracket": b"[",
    "a list": b"- a\n- b\n",
    "bytes": os.urandom(5_000),
    "nul": b"\0" * 5_000,
    "very deep": b"[" * 3_000,
    "a billion laughs": LAUGHS.encode(),
    "an object of Python's": b'!!python/object/apply:os.system ["touch planted"]\n',
    "unknown names": b"approvals: off\nyolo: true\n",
    "wrong types": b"budget: 7\nmodel: [a]\nmcp_servers: x\nproviders: []\nfallbacks: {}\n",
    "numbers without end": b"budget:\n  max_steps: .inf\n  timeout_s: .nan\n  max_tokens: 1e999999\n",
    "a number of 5,000 digits": b"budget:\n  max_steps: " + b"9" * 5_000 + b"\n",
    "a date that is none": b"model: 2026-99-99\nmode: 2026-13-45 25:61:61\n",
}


def make_folder(path: Path) -> None:
    path.mkdir()


def link_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def link_round(path: Path) -> None:
    path.symlink_to(path.name)


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def link_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


KINDS: tuple[Callable[[Path], None], ...] = (
    make_folder,
    link_nowhere,
    link_round,
    make_huge,
    link_device,
    make_pipe,
)


async def check_home(folder: Path) -> None:
    """Start an agent there: every request is answered, the wire stays clean, and it exits normally."""
    workspace = folder / "workspace"
    workspace.mkdir()
    mark = os.urandom(8).hex()
    async with serve(Script([STILL_HERE], pick="cycle")) as server:
        variables = agent_environment(folder, server, SIEGE=mark)
        async with editor(variables, folder / "scratch") as one:
            reply = await one.call("session/new", {"cwd": str(workspace), "mcpServers": []})
            if "result" in reply:
                params = prompt_params(reply["result"]["sessionId"], "Are you still there?")
                reply = await one.call("session/prompt", params)
            if "error" in reply:
                assert reply["error"]["data"]["code"] != "bug", reply
                assert len(json.dumps(reply)) < 5_000
            assert "result" in await one.call("session/list", {})
            assert await one.leave() == 0
            assert "Traceback" not in one.errors
    check_wire(one.messages)
    await check_nobody_survived(mark)
    assert not list(folder.rglob("planted"))


@pytest.mark.parametrize(
    ("file", "text"),
    [*(("config.yaml", text) for text in TEXTS), *((".env", text) for text in ("bytes", "nul", "a list"))],
)
async def test_g14_invalid_settings(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / file).write_bytes(TEXTS[text])
    await check_home(tmp_path)


@pytest.mark.parametrize("file", ["config.yaml", ".env"])
@pytest.mark.parametrize("make", KINDS)
async def test_g14_settings_that_are_not_a_file(
    tmp_path: Path, file: str, make: Callable[[Path], None]
) -> None:
    (tmp_path / ".hermes").mkdir()
    make(tmp_path / ".hermes" / file)
    await check_home(tmp_path)
