"""The draft of protocol version 2: asked for, offered, spoken, and left again on the same stored session."""

import base64
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import ModelRefused
from hermes_protocol.errors import (
    AUTH_REQUIRED,
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
)
from tests.conversations.fake_editor import FakeEditor, allow
from tests.conversations.house import Scene, plain_history
from tests.conversations.scripted_provider import Pause, Thinks, call, step
from tests.conversations.wire_laws import Json
from tests.conversations.wire_laws_v2 import DraftLaws

pytestmark = pytest.mark.anyio
HELLO: Json = {"protocolVersion": 2, "info": {"name": "drafter", "version": "1"}, "capabilities": {}}
ASK = "session/request_permission"


class Shown:
    """A session as an editor of version 2 ends up showing it, update by update."""

    def __init__(self, editor: FakeEditor, session: str) -> None:
        self.updates = [update for name, update in editor.updates if name == session]
        self.words: dict[tuple[str, str], str] = {}
        self.cards: dict[str, Json] = {}
        self.terminals: dict[str, Json] = {}
        for update in self.updates:
            self._take(update["sessionUpdate"], update)

    def _take(self, kind: str, update: Json) -> None:
        if kind in ("user_message", "agent_message", "agent_thought"):
            blocks = update["content"] or []
            self.words[kind, update["messageId"]] = "".join(block["text"] for block in blocks)
        elif kind in ("agent_message_chunk", "agent_thought_chunk"):
            key = kind.removesuffix("_chunk"), update["messageId"]
            self.words[key] = self.words.get(key, "") + update["content"]["text"]
        elif kind == "tool_call_update":
            self.cards.setdefault(update["toolCallId"], {}).update(update)
        elif kind == "tool_call_content_chunk":
            card = self.cards[update["toolCallId"]]
            card["content"] = [*card.get("content", []), update["content"]]
        elif kind == "terminal_update":
            terminal = self.terminals.setdefault(update["terminalId"], {"text": ""})
            terminal.update(update)
            if "output" in update:
                terminal["text"] = base64.b64decode(update["output"]["data"]).decode()
        elif kind == "terminal_output_chunk":
            self.terminals[update["terminalId"]]["text"] += base64.b64decode(update["data"]).decode()

    def of(self, kind: str) -> list[Json]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    def said(self, kind: str) -> list[str]:
        return [text for (who, _), text in self.words.items() if who == kind and text]

    @property
    def states(self) -> list[str]:
        return [update["state"] for update in self.of("state_update")]

    def statuses(self, card: str) -> list[str]:
        mine = [update for update in self.of("tool_call_update") if update["toolCallId"] == card]
        return [update["status"] for update in mine if "status" in update]


@pytest.fixture
def draft(scene: Scene) -> Scene:
    scene.variables["HERMES_ACP_DRAFT_V2"] = "1"
    return scene


@asynccontextmanager
async def drafter(scene: Scene) -> AsyncGenerator[FakeEditor]:
    """Start a house and an editor of version 2 that introduced itself."""
    before, scene.schema = scene.schema, "v2"
    try:
        async with scene.strange_editor() as editor:
            await editor.call("initialize", HELLO)
            yield editor
    finally:
        scene.schema = before


async def new_session(scene: Scene, editor: FakeEditor) -> str:
    return (await editor.call("session/new", {"cwd": str(scene.project)}))["sessionId"]


def saying(session: str, text: str = "go") -> Json:
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def idles(editor: FakeEditor, session: str) -> list[Json]:
    return [update for update in Shown(editor, session).of("state_update") if update["state"] == "idle"]


async def turn(editor: FakeEditor, session: str, text: str = "go") -> Json:
    """Prompt, wait for the end of the turn, and give its state."""
    before = len(idles(editor, session))
    await editor.call("session/prompt", saying(session, text))
    await editor.until(lambda: len(idles(editor, session)) > before)
    return idles(editor, session)[-1]


async def test_without_the_flag_version_1_is_spoken_as_ever(scene: Scene) -> None:
    async with scene.strange_editor() as editor:
        answer = await editor.call("initialize", HELLO)
        assert answer["protocolVersion"] == 1
        assert "agentCapabilities" in answer
        assert (await editor.refusal("auth/logout", {})).code == METHOD_NOT_FOUND


async def test_with_the_flag_a_client_of_version_1_gets_version_1(draft: Scene) -> None:
    draft.provider.plays(step("Hello."))
    async with draft.editor() as editor:
        assert await editor.prompt(await editor.new_session(draft.project)) == "end_turn"
        assert (await editor.refusal("auth/logout", {})).code == METHOD_NOT_FOUND


@pytest.mark.parametrize("asked", [2, 3, 99])
async def test_whoever_asks_for_it_gets_version_2(draft: Scene, asked: int) -> None:
    draft.schema = "v2"
    async with draft.strange_editor() as editor:
        answer = await editor.call("initialize", {**HELLO, "protocolVersion": asked})
    assert answer["protocolVersion"] == 2
    assert answer["capabilities"]["session"].keys() == {"prompt", "mcp", "delete", "additionalDirectories"}
    assert [method["type"] for method in answer["authMethods"]] == ["agent"]


async def test_a_client_from_the_future_is_greeted_whatever_it_says_of_itself(draft: Scene) -> None:
    draft.schema = "v2"
    async with draft.strange_editor() as editor:
        assert (await editor.refusal("initialize", {"protocolVersion": 2})).code == INVALID_PARAMS
        answer = await editor.call("initialize", {"protocolVersion": 9, "info": 7})
    assert answer["protocolVersion"] == 2


async def test_a_terminal_method_is_offered_and_never_logged_in_by(draft: Scene) -> None:
    draft.schema = "v2"
    hello = {**HELLO, "capabilities": {"auth": {"terminal": {}}}}
    async with draft.strange_editor() as editor:
        methods = (await editor.call("initialize", hello))["authMethods"]
        assert [method["type"] for method in methods] == ["terminal", "agent"]
        await editor.call("auth/login", {"methodId": methods[1]["methodId"]})
        refusal = await editor.refusal("auth/login", {"methodId": methods[0]["methodId"]})
        assert refusal.code == INVALID_PARAMS


async def test_a_second_initialize_goes_up_and_at_once_or_not_at_all(draft: Scene) -> None:
    draft.schema = "v2"
    async with draft.strange_editor() as editor:
        assert (await editor.refusal("session/list", {})).code == INVALID_REQUEST
        await editor.call("initialize", HELLO)
        assert (await editor.refusal("initialize", {"protocolVersion": 1})).code == INVALID_REQUEST
        await editor.call("initialize", HELLO)
        await editor.call("session/list", {})
        assert (await editor.refusal("initialize", HELLO)).code == INVALID_REQUEST


async def test_what_version_2_dropped_is_gone(draft: Scene) -> None:
    async with drafter(draft) as editor:
        for method in ("authenticate", "logout", "session/load", "session/set_mode"):
            assert (await editor.refusal(method, {"sessionId": "s"})).code == METHOD_NOT_FOUND


async def test_a_full_turn_from_the_acceptance_to_idle(draft: Scene) -> None:
    draft.write("a.txt", "one\ntwo\n")
    draft.provider.plays(
        step(Thinks("Hm."), "Let me see.", call("read_file", "c1", path="a.txt")),
        step(call("plan", "c2", entries=[{"content": "edit"}])),
        step(call("edit_file", "c3", path="a.txt", old_text="two", new_text="three")),
        step(call("read_file", "c4", path="none.txt")),
        step("All done."),
    )
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        answer = await editor.call("session/prompt", saying(session, "Count on"))
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
        question = editor.asks(ASK)[0]
    assert shown.words["user_message", answer["messageId"]] == "Count on"
    assert shown.said("agent_thought") == ["Hm."]
    assert shown.said("agent_message") == ["Let me see.", "All done."]
    assert shown.states == ["running", "requires_action", "running", "idle"]
    assert idles(editor, session)[-1]["stopReason"] == "end_turn"
    assert shown.statuses("c1") == ["pending", "in_progress", "completed"]
    assert shown.statuses("c4") == ["pending", "in_progress", "failed"]
    assert len(shown.cards["c4"]["content"]) == 1
    assert shown.of("plan_update")[0]["plan"]["entries"][0]["content"] == "edit"
    assert question["subject"]["toolCall"]["toolCallId"] == "c3"
    assert question["subject"]["toolCall"]["content"] == shown.cards["c3"]["content"]
    diff = shown.cards["c3"]["content"][0]
    path = str(draft.project / "a.txt")
    assert [(change["operation"], change["path"]) for change in diff["changes"]] == [("modify", path)]
    assert diff["patch"]["text"].splitlines()[-3:] == [" one", "-two", "+three"]
    assert (draft.project / "a.txt").read_text() == "one\nthree\n"


async def test_a_patch_is_one_that_git_takes(draft: Scene, tmp_path: Path) -> None:
    lines = [f"line {number}\n" for number in range(40)]
    before = "".join(lines) + "the end"
    path = draft.write('folder/an "odd" name.txt', before)
    draft.provider.plays(
        step(call("edit_file", "c1", path=str(path), old_text="line 20\n", new_text="")),
        step(call("edit_file", "c2", path=str(path), old_text="the end", new_text="the end\nand more\n")),
        step(call("write_file", "c3", path="fresh.txt", content="new")),
        step("Done."),
    )
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session)
        cards = Shown(editor, session).cards
    patches = [cards[card]["content"][0]["patch"]["text"] for card in ("c1", "c2", "c3")]
    root = tmp_path / "elsewhere"
    copy = root / str(path).lstrip("/")
    copy.parent.mkdir(parents=True)
    copy.write_text(before)
    for patch in patches:
        subprocess.run(["git", "apply", "-"], cwd=root, input=patch, text=True, check=True, timeout=30)
    assert copy.read_text() == path.read_text()
    assert (root / str(draft.project / "fresh.txt").lstrip("/")).read_text() == "new"


async def test_a_command_is_shown_in_a_terminal_of_its_own(draft: Scene) -> None:
    line = "printf one; until [ -e go ]; do sleep 0.02; done; printf two; exit 3"
    draft.provider.plays(step(call("terminal", "c1", command=line)), step("Ran."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: Shown(editor, session).terminals.get("c1", {}).get("text") == "one")
        assert Shown(editor, session).of("terminal_output_chunk")
        draft.write("go", "")
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
    terminal = shown.terminals["c1"]
    assert (terminal["command"], terminal["cwd"]) == (line, str(draft.project))
    assert terminal["exitStatus"] == {"exitCode": 3}
    assert terminal["text"].startswith("onetwo\n")
    assert shown.cards["c1"]["content"] == [{"type": "terminal", "terminalId": "c1"}]


async def test_a_refused_command_has_a_card_and_no_terminal(draft: Scene) -> None:
    draft.provider.plays(step(call("terminal", "c1", command="true")), step("Then not."))
    async with drafter(draft) as editor:
        editor.on[ASK] = allow("reject_once")
        session = await new_session(draft, editor)
        await turn(editor, session)
        shown = Shown(editor, session)
    assert shown.statuses("c1") == ["pending", "failed"]
    assert "refused" in shown.cards["c1"]["content"][0]["content"]["text"]
    assert shown.terminals == {}


async def test_cancel_ends_the_turn_and_its_command(draft: Scene) -> None:
    draft.provider.plays(step(call("terminal", "c1", command="echo here; sleep 600")), step("Again."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: "here" in Shown(editor, session).terminals.get("c1", {}).get("text", ""))
        editor.cancel(session)
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
        assert idles(editor, session)[-1]["stopReason"] == "cancelled"
        assert shown.statuses("c1")[-1] == "cancelled"
        assert "exitStatus" in shown.terminals["c1"]
        assert (await turn(editor, session))["stopReason"] == "end_turn"


async def test_cancel_takes_back_the_question(draft: Scene) -> None:
    draft.provider.plays(step(call("terminal", "c1", command="true")))

    async def never(params: Json) -> None:
        await anyio.sleep_forever()

    async with drafter(draft) as editor:
        editor.on[ASK] = never
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: editor.asks(ASK))
        editor.cancel(session)
        await editor.until(lambda: idles(editor, session) and editor.given_up)
        assert idles(editor, session)[-1]["stopReason"] == "cancelled"
        assert Shown(editor, session).states[-2:] == ["requires_action", "idle"]


async def test_a_second_prompt_is_answered_when_its_turn_comes(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause, "."), step("Two."))
    answers: dict[str, str] = {}
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)

        async def ask(text: str) -> None:
            answers[text] = (await editor.call("session/prompt", saying(session, text)))["messageId"]

        await ask("go")
        await pause.reached.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "on")
            await editor.until(lambda: Shown(editor, session).of("notice"))
            assert "on" not in answers
            pause.go.set()
        await editor.until(lambda: len(idles(editor, session)) == 2)
        shown = Shown(editor, session)
    assert [shown.words["user_message", answers[text]] for text in ("go", "on")] == ["go", "on"]
    assert shown.states == ["running", "idle", "running", "idle"]


async def test_cancel_refuses_a_prompt_that_still_waits(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await pause.reached.wait()

        async def wait_in_vain() -> None:
            assert (await editor.refusal("session/prompt", saying(session, "on"))).code == CANCELLED

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_in_vain)
            await editor.until(lambda: Shown(editor, session).of("notice"))
            editor.cancel(session)
        await editor.until(lambda: idles(editor, session))
        assert Shown(editor, session).said("user_message") == ["go"]


async def test_a_failure_after_the_acceptance_is_told_by_the_state(draft: Scene) -> None:
    draft.provider.plays(step(ModelRefused("The endpoint refused this.")), step("Again."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        end = await turn(editor, session)
        assert end["stopReason"] == "error"
        assert end["error"]["code"] == INTERNAL_ERROR
        assert end["error"]["data"] == {"code": "model_refused"}
        assert (await turn(editor, session))["stopReason"] == "end_turn"


async def test_a_failure_before_the_acceptance_is_an_error(draft: Scene) -> None:
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("auth/logout", {})
        assert (await editor.refusal("session/prompt", saying(session))).code == AUTH_REQUIRED
        assert (await editor.refusal("session/prompt", saying(session, " "))).code == INVALID_PARAMS
        unknown = await editor.refusal("session/prompt", saying("ses_none"))
        assert unknown.code == NOT_FOUND
        assert unknown.data == {"code": "not_found", "sessionId": "ses_none"}
        assert Shown(editor, session).states == []


async def test_a_record_that_cannot_be_written_is_told_by_the_state(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause, "."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        answer = await editor.call("session/prompt", saying(session, "/status"))
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
        assert shown.words["user_message", answer["messageId"]] == "/status"
        assert shown.states == ["running", "idle"]
        assert "Model" in shown.said("agent_message")[0]


async def test_options_are_there_from_the_start_and_set(draft: Scene) -> None:
    async with drafter(draft) as editor:
        opened = await editor.call("session/new", {"cwd": str(draft.project)})
        session = opened["sessionId"]
        names = [option["configId"] for option in opened["configOptions"]]
        assert {"mode", "during_turn", "shows_thoughts"} <= set(names)
        assert {command["name"] for command in opened["availableCommands"]} >= {"status", "context"}
        mode: Json = {"sessionId": session, "configId": "mode", "type": "id", "value": "plan"}
        options = (await editor.call("session/set_config_option", mode))["configOptions"]
        assert {option["configId"]: option["currentValue"] for option in options}["mode"] == "plan"
        assert Shown(editor, session).of("config_option_update")[-1]["configOptions"] == options
        thoughts: Json = {**mode, "configId": "shows_thoughts", "type": "boolean", "value": False}
        await editor.call("session/set_config_option", thoughts)
        for wrong in ({**mode, "value": "auto"}, {**thoughts, "configId": "mode"}, {**mode, "type": "_x"}):
            assert (await editor.refusal("session/set_config_option", wrong)).code == INVALID_PARAMS
        draft.provider.plays(step(Thinks("Hm."), "Hello."))
        await turn(editor, session)
        assert Shown(editor, session).said("agent_thought") == []


def resuming(scene: Scene, session: str, **more: object) -> Json:
    return {"sessionId": session, "cwd": str(scene.project), **more}


async def test_a_session_is_resumed_with_its_past_or_without(draft: Scene) -> None:
    draft.write("a.txt", "one\n")
    draft.provider.plays(
        step(Thinks("Hm"), Thinks("m."), "Let ", "me ", "see.", call("terminal", "c1", command="cat a.txt")),
        step(call("edit_file", "c2", path="a.txt", old_text="one", new_text="two")),
        step("All done."),
    )
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session, "Count on")
        live = Shown(editor, session)
        await editor.call("session/close", {"sessionId": session})
        await editor.call("session/close", {"sessionId": session})
    async with drafter(draft) as editor:
        await editor.call("session/resume", resuming(draft, session, replayFrom={"type": "start"}))
        shown = Shown(editor, session)
    assert shown.words == live.words
    assert shown.cards == live.cards
    assert shown.terminals["c1"]["text"] == live.terminals["c1"]["text"]
    assert shown.states == ["idle"]
    assert shown.updates[-1]["sessionUpdate"] == "state_update"
    async with drafter(draft) as editor:
        await editor.call("session/resume", resuming(draft, session))
        assert [update["sessionUpdate"] for _, update in editor.updates] == ["state_update"]
        unknown = await editor.refusal("session/resume", resuming(draft, "ses_none"))
        assert (unknown.code, unknown.data["sessionId"]) == (NOT_FOUND, "ses_none")
        elsewhere = resuming(draft, session, replayFrom={"type": "_middle"})
        assert (await editor.refusal("session/resume", elsewhere)).code == INVALID_PARAMS


async def test_clients_of_both_versions_drive_one_session_in_turn(draft: Scene) -> None:
    draft.provider.plays(step("One."), step("Two."), step("Three."))
    async with draft.editor() as editor:
        session = await editor.new_session(draft.project)
        await editor.prompt(session, "first")
    async with drafter(draft) as editor:
        await editor.call("session/resume", resuming(draft, session, replayFrom={"type": "start"}))
        await turn(editor, session, "second")
        shown = Shown(editor, session)
        assert shown.said("user_message") == ["first", "second"]
        assert shown.said("agent_message") == ["One.", "Two."]
    async with draft.editor() as editor:
        await editor.call("session/load", resuming(draft, session, mcpServers=[]))
        await editor.prompt(session, "third")
    history = [line for line in plain_history(draft.provider.requests[-1]) if "[" not in line]
    assert history == [
        "user: first",
        "assistant: One.",
        "user: second",
        "assistant: Two.",
        "user: third",
    ]


async def test_sessions_are_listed_and_deleted(draft: Scene) -> None:
    draft.provider.plays(step("Hello."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session, "A title")
        listed = (await editor.call("session/list", {"cwd": str(draft.project)}))["sessions"]
        assert [(row["sessionId"], row["title"]) for row in listed] == [(session, "A title")]
        await editor.call("session/delete", {"sessionId": session})
        assert (await editor.call("session/list", {}))["sessions"] == []
        assert (await editor.refusal("session/list", {"cursor": "none"})).code == INVALID_PARAMS


async def test_servers_that_cannot_be_used_are_refused(draft: Scene) -> None:
    async with drafter(draft) as editor:
        for server in ({"type": "stdio", "name": "s", "command": ""}, {"type": "_x", "name": "s"}):
            params: Json = {"cwd": str(draft.project), "mcpServers": [server]}
            assert (await editor.refusal("session/new", params)).code == INVALID_PARAMS


async def test_what_a_broken_step_said_is_taken_back(draft: Scene) -> None:
    broken = ModelRefused("Broken.", retryable=True)
    draft.provider.plays(step(Thinks("Hm."), "Wro", broken), step("Right."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session)
        shown = Shown(editor, session)
    assert shown.said("agent_message") == ["Right."]
    assert shown.said("agent_thought") == []


def test_the_laws_of_the_draft_notice_what_breaks_them() -> None:
    def update(kind: str, **more: object) -> Json:
        params: Json = {"sessionId": "s", "update": {"sessionUpdate": kind, **more}}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    laws = DraftLaws()
    laws.watch_sent({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/"}})
    laws.watch_received({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}})
    laws.watch_received(update("agent_message_chunk", messageId="m", content={"type": "text", "text": "a"}))
    laws.watch_received(update("state_update", state="running"))
    laws.watch_received(update("tool_call_update", toolCallId="c", title="t", status="pending"))
    laws.watch_received(update("terminal_update", terminalId="t", command="true"))
    laws.watch_received(update("tool_call", toolCallId="c", title="t"))
    laws.watch_received(update("state_update", state="idle"))
    faults = " ".join(laws.faults)
    for words in ("while it is idle", "left pending", "left running"):
        assert words in faults
