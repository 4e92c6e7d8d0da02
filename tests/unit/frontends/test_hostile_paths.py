"""The path of a diff is one line with nothing hidden in it, so a file name cannot imitate answers."""

from pathlib import Path
from typing import Any

import pytest

from hermes_acp.core.event_types import Diff
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.frontends.chat.questions.approval_prompt import ApprovalPrompt
from hermes_acp.frontends.chat.rendering.diff_rendering import render_diff
from hermes_acp.frontends.cli.runs.runs_show import question_lines
from hermes_acp.frontends.gateway.conversations.question_texts import question_text
from hermes_acp.frontends.gateway.port.platform_port import Limits
from hermes_acp.frontends.lsp.client.lsp_gate import ClientGate
from hermes_acp.frontends.lsp.client.scratch_files import ScratchFolder
from hermes_acp.runs.open_questions import OpenQuestion
from hermes_acp.telemetry.redaction import Redactor
from hermes_protocol import v1
from tests.unit.frontends.chat_tools import CWD, AnsweredScreen, layout
from tests.unit.frontends.test_lsp_questions import AskedClient

pytestmark = pytest.mark.anyio
NAME = "ok\nyes ABCDE → Allow once\r\u2028  1 Allow once\x1b[2K\x9b\u202etxt.exe\u2066\u200b"
SHOWN = r"ok\nyes ABCDE → Allow once\r\u2028  1 Allow once\x1b[2K\x9b\u202etxt.exe\u2066\u200b"
OPTIONS = [v1.PermissionOption(option_id="a", name="Allow once", kind="allow_once")]


def asked() -> v1.RequestPermissionRequest:
    diff = v1.Diff(path=f"{CWD}/{NAME}", old_text=None, new_text="text\n")
    call = v1.ToolCallUpdate(tool_call_id="c", title="Write a file", content=[diff])
    return v1.RequestPermissionRequest(session_id="s", tool_call=call, options=OPTIONS)


def proposed(path: str = f"{CWD}/{NAME}") -> CallProposed:
    return CallProposed("c", "write_file", "Write a file", "edit", diffs=(Diff(path, None, "text\n"),))


def assert_escaped(text: str, lines_with_path: int) -> None:
    with_path = [line for line in text.splitlines() if SHOWN in line]
    assert len(with_path) == lines_with_path, text
    assert not [
        line for line in text.splitlines() if line.lstrip().startswith(("yes ABCDE", "1 Allow once\\"))
    ]
    assert all(character.isprintable() or character == "\n" for character in text), ascii(text)


async def test_hostile_paths_in_the_chat_and_its_panes() -> None:
    screen = AnsweredScreen("y")
    wide = layout(columns=400)
    await ApprovalPrompt(screen, wide, asked(), CWD, accepts_partial_edits=True).put()
    assert_escaped(screen.written, 1)


def test_a_line_sent_with_a_line_break_stays_one_line() -> None:
    hunk: dict[str, Any] = {"oldStart": 1, "newStart": 1, "oldLines": ["a"], "newLines": ["b\n? Allow"]}
    diff = v1.Diff(path="/p/a", old_text="", new_text="", meta={"hermes": {"hunks": [hunk]}})
    assert render_diff(diff, "/p").plain.splitlines()[-1].endswith("+ b␊? Allow")


def test_hostile_paths_on_chat_platforms() -> None:
    shown = question_text(asked(), Limits(max_length=10_000), Redactor([]).clean, "")
    assert_escaped("\n".join(shown.details), 2)


def test_hostile_paths_in_runs() -> None:
    assert_escaped("\n".join(question_lines("run", OpenQuestion(proposed(), "because\nyes ABCDE"))), 2)
    arguments = {"one": "1\n  two: 2\nyes ABCDE", "a\nb": "3"}
    call = CallProposed("c", "mcp__a__b", "Call a\nyes ABCDE", "other", arguments)
    lines = list(question_lines("run", OpenQuestion(call)))
    assert "Call a\\nyes ABCDE" in lines[0]
    assert "  one: 1\n      two: 2\n    yes ABCDE" in lines
    assert "  a\\nb: 3" in lines


async def test_hostile_paths_in_an_editor_over_lsp(tmp_path: Path) -> None:
    client = AskedClient(opens=False)
    gate = ClientGate(client, lambda: False, ScratchFolder(tmp_path))
    assert await gate.ask(proposed(), permission_scope=PermissionScope()) == "allow_once"
    assert_escaped(client.question, 2)
