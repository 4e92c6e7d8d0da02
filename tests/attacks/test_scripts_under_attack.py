"""Scripts that call tools, against the process that answers: forbidden calls, floods, invalid and partial frames."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.e2e.raw_editor import Answer, permit
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="descriptors are POSIX")]
REFUSE: Final[dict[str, Answer]] = {"session/request_permission": permit("reject_once")}
BOUND_S: Final = 90
WIRE: Final = """
wire = next(cell.cell_contents for cell in tools.read_file.__closure__ if hasattr(cell.cell_contents, "ask"))
"""
TOKEN: Final = "ghp" + "_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nRt"


async def run(siege: AttackedAgent, code: str, session_id: str = "", timeout_s: float = 80) -> str:
    """Run a script; return what the model was told about it."""
    call = ToolCall("execute_code", {"code": code, "timeout_s": timeout_s})
    with anyio.fail_after(BOUND_S):
        ends = await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
    return result_of(ends[0])


async def test_no_call_reaches_tools_reserved_for_the_model(tmp_path: Path) -> None:
    names = ("execute_code", "delegate", "ask_user", "no_such_tool", "", "../terminal")
    code = f"{WIRE}\nfor name in {names}:\n    print(wire.ask({{'call': name, 'arguments': {{'code': '1'}}}})['text'])"
    async with attacked_agent(tmp_path) as siege:
        text = await run(siege, code)
    assert text.count("There is no tool") + text.count("it does not name a tool") == len(names)


async def test_each_call_is_checked_separately(tmp_path: Path) -> None:
    code = """
for call in (
    lambda: tools.write_file(path="made.txt", content="x"),
    lambda: tools.terminal(command="touch made.txt"),
    lambda: tools.read_file(path=".env"),
    lambda: tools.read_file(path="../secrets/canary.txt"),
    lambda: tools.web_fetch(url="http://127.0.0.1/"),
    lambda: tools.search(pattern="KEY", path=".env"),
):
    try:
        print("DONE", call())
    except ToolError as error:
        print("REFUSED", error)
"""
    answers: list[str] = []

    def answer(params: dict[str, object]) -> object:
        answers.append(
            "allow_once" if not answers else "reject_once"
        )  # The script itself, and nothing it calls.
        return permit(answers[-1])(params)

    async with attacked_agent(tmp_path, answers={"session/request_permission": answer}) as siege:
        (siege.workspace / ".env").write_text("KEY=plain-words\n")
        text = await run(siege, code)
        assert text.count("REFUSED") == 6, text
        assert "DONE" not in text
        assert not (siege.workspace / "made.txt").exists()


async def test_plan_mode_runs_no_script(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        await siege.agent.call("session/set_mode", {"sessionId": session_id, "modeId": "plan"})
        await siege.check_prompt(
            session_id
        )  # The note about the new mode reaches the model here, before the turn under test.
        assert "plan mode" in await run(siege, "open('made.txt', 'w')", session_id)
        assert not (siege.workspace / "made.txt").exists()


FRAMES: Final = {
    "a flood without end": "for _ in range(2000): os.write(fd, b'x' * 65536)",
    "a flood of greetings": "for _ in range(20000): os.write(fd, b'={\"ready\": true}\\n')",
    "a flood of pieces": "for _ in range(20000): os.write(fd, b'+' + b'x' * 3000 + b'\\n')",
    "what is no message": "os.write(fd, b'=[1\\n=null\\n=1e999\\n=' + b'[' * 100000 + b'\\n=\\xff\\xfe\\n+\\n')",
    "a word that never ends": "for _ in range(600): os.write(fd, b'x' * 9000); time.sleep(0.01)",
    "calls after the end": 'os.write(fd, b\'={"printed": ""}\\n={"call": "plan", "arguments": {}}\\n\')',
}


@pytest.mark.slow
@pytest.mark.parametrize("frame", FRAMES)
async def test_frames_that_no_runner_sends_do_no_harm(tmp_path: Path, frame: str) -> None:
    code = f"import os, time\nfor fd in range(3, 12):\n    try:\n        {FRAMES[frame]}\n    except OSError: pass\n"
    async with attacked_agent(tmp_path) as siege:
        await run(siege, code, timeout_s=15)


async def test_a_call_that_is_too_large_is_rejected_at_once(tmp_path: Path) -> None:
    """None of it is sent: sending it in chunks would take longer than the call's timeout."""
    code = f"""{WIRE}
sent = []
wire._write = sent.append
try: tools.read_file(path='x' * 4_200_000)
except ToolError as error: print('REFUSED', str(error)[:300], sent)
del wire._write
"""
    async with attacked_agent(tmp_path) as siege:
        text = await run(siege, code)
    assert "REFUSED This call contains more than 4,194,304 characters. Do it in smaller parts. []" in text, (
        text
    )


async def test_processes_left_by_a_script_can_call_nothing(tmp_path: Path) -> None:
    code = """
import os, select
os.mkfifo("gate")
told, telling = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        gate = os.open("gate", os.O_RDONLY | os.O_NONBLOCK)
        os.write(telling, b"x")
        select.select([gate], [], [])
        tools.write_file(path="late.txt", content="x")
    os._exit(0)
os.read(told, 1)
print("it listens")
"""
    async with attacked_agent(tmp_path) as siege:
        assert "it listens" in await run(siege, code)
        with anyio.fail_after(60):
            while listens(siege.workspace / "gate"):
                await anyio.sleep(0.01)
        assert not (siege.workspace / "late.txt").exists()


def listens(gate: Path) -> bool:
    """Return whether the reading end of a pipe is open."""
    try:
        os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        if error.errno == errno.ENXIO:
            return False
        raise
    return True


async def test_c06_no_part_of_a_secret_remains_where_output_is_cut(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        (siege.workspace / "token.txt").write_text(TOKEN)
        for place in range(4, 36, 8):
            code = (
                "token = open('token.txt').read()\n"
                f"print('w ' * ((16000 - {place}) // 2) + token + ' ' + 'x ' * 20000, end='')\n"
                f"print(token + ' ' + 'z ' * ((16000 - {place}) // 2), end='')"
            )
            text = await run(siege, code)
            pieces = {TOKEN[start : start + 8] for start in range(len(TOKEN) - 8)}
            assert [piece for piece in pieces if piece in text] == []
