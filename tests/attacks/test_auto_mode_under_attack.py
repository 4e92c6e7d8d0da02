"""Mode `auto` in a whole agent: sandboxed commands run without approval; leaving the sandbox needs it (C02, C07)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import detect_sandbox
from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.attacks.sandboxes import require
from tests.e2e.raw_editor import Answer, Message, permit

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sandboxes"),
]
AUTO = "mode: auto\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def has_bubblewrap() -> None:
    require("bubblewrap", detect_sandbox({"PATH": os.defpath}, ()))


class Asked:
    """A user who gives the same answer each time, and remembers the questions."""

    def __init__(self, option: str) -> None:
        self.titles: list[str] = []
        self._answer: Answer = permit(option)

    def __call__(self, message: Message) -> Message:
        self.titles.append(str(message["toolCall"]["title"]))
        answer = self._answer
        assert callable(answer)
        return answer(message)


async def begin(siege: AttackedAgent) -> str:
    """Open a session and tell the model its mode, so that calls happen in separate turns."""
    session_id = await siege.agent.open_session(siege.workspace)
    await siege.check_prompt(session_id)
    return session_id


def asked_about(titles: list[str], words: str) -> bool:
    return any(words in title for title in titles)


async def test_commands_run_without_approval_and_do_no_harm(tmp_path: Path) -> None:
    lines = (
        "echo mine > made && cat made",
        f"cat {tmp_path}/secrets/canary.txt {tmp_path}/.hermes/config.yaml; ls -la {tmp_path}",
        f"echo x > {tmp_path}/escaped",
        "env; cat /proc/*/environ | tr '\\0' '\\n'",
        "exec 3<>/dev/tcp/127.0.0.1/1 && echo reached",
    )
    asked = Asked("reject_once")
    async with attacked_agent(
        tmp_path, settings=AUTO, answers={"session/request_permission": asked}
    ) as siege:
        session_id = await begin(siege)
        ends = [result_of(await siege.call("terminal", {"command": line}, session_id)) for line in lines]
    assert "mine" in ends[0]
    assert (tmp_path / "workspace/made").read_text() == "mine\n"
    assert not (tmp_path / "escaped").exists()
    assert "OPENAI_API_KEY" not in ends[3]
    assert not any("reached\n" in end for end in ends)
    assert not asked_about(asked.titles, "made")


async def test_leaving_the_sandbox_needs_approval(tmp_path: Path) -> None:
    call = {"command": f"echo free > {tmp_path}/outside", "unsandboxed": True}
    refusing = Asked("reject_once")
    async with attacked_agent(
        tmp_path, settings=AUTO, answers={"session/request_permission": refusing}
    ) as siege:
        assert "refused" in result_of(await siege.call("terminal", call, await begin(siege)))
    assert asked_about(refusing.titles, "without a sandbox")
    assert not (tmp_path / "outside").exists()
    allowing = Asked("allow_once")
    second = tmp_path / "second"
    second.mkdir()
    async with attacked_agent(
        second, settings=AUTO, answers={"session/request_permission": allowing}
    ) as siege:
        await siege.call("terminal", call, await begin(siege))
    assert (tmp_path / "outside").read_text() == "free\n"


async def test_a_launched_process_is_confined_too(tmp_path: Path) -> None:
    call = {"command": f"echo x > {tmp_path}/escaped; echo done", "background": True}
    asked = Asked("reject_once")
    async with attacked_agent(
        tmp_path, settings=AUTO, answers={"session/request_permission": asked}
    ) as siege:
        end = result_of(await siege.call("terminal", call, await begin(siege)))
    assert "done" in end or "refused" in end
    assert not (tmp_path / "escaped").exists()


async def test_without_the_sandbox_commands_need_approval(tmp_path: Path) -> None:
    asked = Asked("reject_once")
    settings = f"{AUTO}sandbox:\n  mode: off\n"
    async with attacked_agent(
        tmp_path, settings=settings, answers={"session/request_permission": asked}
    ) as siege:
        await siege.call("terminal", {"command": 'python3 -c \'open("ran", "w")\''}, await begin(siege))
    assert asked_about(asked.titles, "ran")
    assert not (tmp_path / "workspace/ran").exists()


async def test_with_the_sandbox_approved_commands_are_confined(tmp_path: Path) -> None:
    settings = "sandbox:\n  mode: on\n  max_processes: 200\n"
    async with attacked_agent(tmp_path, settings=settings) as siege:
        end = result_of(
            await siege.call(
                "terminal", {"command": f"echo x > {tmp_path}/escaped; echo x > /usr/x"}, await begin(siege)
            )
        )
        assert "unsandboxed: true" in end
    assert not (tmp_path / "escaped").exists()
