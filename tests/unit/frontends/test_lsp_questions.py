"""Questions of `hermes-acp lsp` in the editor: the whole text of what runs, and the reason."""

from pathlib import Path

import pytest
from lsprotocol import types

from hermes_acp.core.event_types import CallEffect, Diff
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.frontends.lsp.client.lsp_client import LspClient
from hermes_acp.frontends.lsp.client.lsp_gate import ClientGate
from hermes_acp.frontends.lsp.client.scratch_files import ScratchFolder

pytestmark = pytest.mark.anyio
SCRIPT = "\n".join(f"print({number})" for number in range(2_000))


class AskedClient(LspClient):
    """An editor that allows everything; `opens` says whether it can show a file."""

    def __init__(self, *, opens: bool) -> None:
        self.opens = opens
        self.question = ""
        self.kind = types.MessageType.Log
        self.opened: list[str] = []

    async def choose(
        self, text: str, titles: object, kind: types.MessageType = types.MessageType.Info
    ) -> str | None:
        self.question, self.kind = text, kind
        return "Allow once"

    async def show(self, uri: str, *, takes_focus: bool = True, is_external: bool = False) -> bool:
        if self.opens:
            self.opened.append(Path(uri.removeprefix("file://")).read_text(encoding="utf-8"))
        return self.opens


async def asked(tmp_path: Path, call: CallProposed, *, opens: bool = False) -> AskedClient:
    client = AskedClient(opens=opens)
    gate = ClientGate(client, lambda: False, ScratchFolder(tmp_path))
    assert await gate.ask(call, permission_scope=PermissionScope()) == "allow_once"
    return client


def script(code: str) -> CallProposed:
    return CallProposed("c", "execute_code", "Run a Python script", "execute", {"code": code})


async def test_a_script_is_in_the_question(tmp_path: Path) -> None:
    client = await asked(tmp_path, script("print(1)\nprint(2)"))
    assert client.question == "Hermes needs your approval: Run a Python script\nprint(1)\nprint(2)"
    assert client.kind == types.MessageType.Info


async def test_a_long_script_is_opened_as_a_file_or_else_asked_about_in_full(tmp_path: Path) -> None:
    opened = await asked(tmp_path, script(SCRIPT), opens=True)
    assert opened.opened == [f"{SCRIPT}\n"]
    assert "The full text is open as approval-" in opened.question
    assert SCRIPT in (await asked(tmp_path, script(SCRIPT))).question


async def test_a_change_is_in_the_question(tmp_path: Path) -> None:
    diffs = (Diff("/p/a", "one\ntwo\n", "one\n2\n"), Diff("/p/b", "gone\n", "", is_deleted=True))
    call = CallProposed("c", "apply_patch", "Change a, delete b", "edit", {}, diffs=diffs)
    question = (await asked(tmp_path, call)).question
    assert "-two\n+2" in question
    assert "-gone" in question


async def test_a_warning_is_shown_as_a_warning_with_its_reason(tmp_path: Path) -> None:
    effects = (CallEffect("deletes", ("build",)), CallEffect("runs", ("make clean",)))
    call = CallProposed("c", "terminal", "Run x", "execute", {"command": "x"}, why="make", effects=effects)
    client = await asked(tmp_path, call)
    assert client.kind == types.MessageType.Warning
    assert client.question.endswith("Asked because it deletes files: build; make.")
