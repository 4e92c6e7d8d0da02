"""The draft of protocol version 2: requested, offered, and left again with the same stored session."""

import pytest

from hermes_protocol.errors import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, NOT_FOUND
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.draft_editor import HELLO, Shown, drafter, new_session, resuming, turn
from tests.conversations.scripted_provider import ScriptedThought, call, step
from tests.conversations.wire_laws import Json
from tests.conversations.wire_laws_v2 import DraftLaws

pytestmark = pytest.mark.anyio


async def test_without_the_flag_version_1_is_spoken(scene: Scene) -> None:
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
async def test_a_client_that_requests_version_2_gets_it(draft: Scene, asked: int) -> None:
    draft.schema = "v2"
    async with draft.strange_editor() as editor:
        answer = await editor.call("initialize", {**HELLO, "protocolVersion": asked})
    assert answer["protocolVersion"] == 2
    assert answer["capabilities"]["session"].keys() == {"prompt", "mcp", "delete", "additionalDirectories"}
    assert [method["type"] for method in answer["authMethods"]] == ["agent"]


async def test_a_client_of_a_future_version_is_accepted_whatever_it_announces(draft: Scene) -> None:
    draft.schema = "v2"
    async with draft.strange_editor() as editor:
        assert (await editor.refusal("initialize", {"protocolVersion": 2})).code == INVALID_PARAMS
        answer = await editor.call("initialize", {"protocolVersion": 9, "info": 7})
    assert answer["protocolVersion"] == 2


async def test_a_terminal_method_is_offered_but_not_used_to_sign_in(draft: Scene) -> None:
    draft.schema = "v2"
    hello: Json = {**HELLO, "capabilities": {"auth": {"terminal": {}}}}
    async with draft.strange_editor() as editor:
        methods = (await editor.call("initialize", hello))["authMethods"]
        assert [method["type"] for method in methods] == ["terminal", "agent"]
        await editor.call("auth/login", {"methodId": methods[1]["methodId"]})
        refusal = await editor.refusal("auth/login", {"methodId": methods[0]["methodId"]})
        assert refusal.code == INVALID_PARAMS


async def test_a_second_initialize_may_only_upgrade_at_once(draft: Scene) -> None:
    draft.schema = "v2"
    async with draft.strange_editor() as editor:
        assert (await editor.refusal("session/list", {})).code == INVALID_REQUEST
        await editor.call("initialize", HELLO)
        assert (await editor.refusal("initialize", {"protocolVersion": 1})).code == INVALID_REQUEST
        await editor.call("initialize", HELLO)
        await editor.call("session/list", {})
        assert (await editor.refusal("initialize", HELLO)).code == INVALID_REQUEST


async def test_methods_removed_in_version_2_are_gone(draft: Scene) -> None:
    async with drafter(draft) as editor:
        for method in ("authenticate", "logout", "session/load", "session/set_mode"):
            assert (await editor.refusal(method, {"sessionId": "s"})).code == METHOD_NOT_FOUND


async def test_options_are_sent_from_the_start_and_can_be_set(draft: Scene) -> None:
    async with drafter(draft) as editor:
        opened = await editor.call("session/new", {"cwd": str(draft.project)})
        session = opened["sessionId"]
        names = [option["configId"] for option in opened["configOptions"]]
        assert {"mode", "during_turn", "shows_thoughts"} <= set(names)
        assert {command["name"] for command in opened["availableCommands"]} >= {"status", "context"}
        mode: Json = {"sessionId": session, "configId": "mode", "type": "id", "value": "plan"}
        options = (await editor.call("session/set_config_option", mode))["configOptions"]
        assert {option["configId"]: option["currentValue"] for option in options}["mode"] == "plan"
        reported = Shown(editor, session).of("config_option_update")
        assert options in [update["configOptions"] for update in reported], "the list of models may follow it"
        thoughts: Json = {**mode, "configId": "shows_thoughts", "type": "boolean", "value": False}
        await editor.call("session/set_config_option", thoughts)
        wrongs: list[Json] = [
            {**mode, "value": "bypass"},
            {**thoughts, "configId": "mode"},
            {**mode, "type": "_x"},
        ]
        for wrong in wrongs:
            assert (await editor.refusal("session/set_config_option", wrong)).code == INVALID_PARAMS
        draft.provider.plays(step(ScriptedThought("Hm."), "Hello."))
        await turn(editor, session)
        assert Shown(editor, session).said("agent_thought") == []


async def test_a_session_is_resumed_with_or_without_its_past(draft: Scene) -> None:
    draft.write("a.txt", "one\n")
    draft.provider.plays(
        step(
            ScriptedThought("Hm"),
            ScriptedThought("m."),
            "Let ",
            "me ",
            "see.",
            call("terminal", "c1", command="cat a.txt"),
        ),
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
    kinds = [update["sessionUpdate"] for update in shown.updates]
    # The list of models may arrive at any moment, and is then shown with the options.
    assert [kind for kind in kinds if kind != "config_option_update"][-1] == "state_update"
    async with drafter(draft) as editor:
        await editor.call("session/resume", resuming(draft, session))
        shown = Shown(editor, session)
        assert (shown.states, shown.words, shown.cards) == (["idle"], {}, {})
        unknown = await editor.refusal("session/resume", resuming(draft, "ses_none"))
        assert unknown.code == NOT_FOUND
        assert unknown.data == {"code": "not_found", "sessionId": "ses_none"}
        elsewhere = resuming(draft, session, replayFrom={"type": "_middle"})
        assert (await editor.refusal("session/resume", elsewhere)).code == INVALID_PARAMS


async def test_clients_of_both_versions_use_one_session_in_turn(draft: Scene) -> None:
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


async def test_unusable_servers_are_rejected(draft: Scene) -> None:
    async with drafter(draft) as editor:
        servers: list[Json] = [{"type": "stdio", "name": "s", "command": ""}, {"type": "_x", "name": "s"}]
        for server in servers:
            params: Json = {"cwd": str(draft.project), "mcpServers": [server]}
            assert (await editor.refusal("session/new", params)).code == INVALID_PARAMS


def test_the_rules_of_the_draft_detect_violations() -> None:
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


async def test_the_model_and_its_effort_are_in_the_answer_that_opens_a_session(draft: Scene) -> None:
    async with drafter(draft) as editor:
        opened = await editor.call("session/new", {"cwd": str(draft.project)})
    options = {option["configId"]: option.get("currentValue") for option in opened["configOptions"]}
    assert (options["model"], options["effort"]) == ("scripted-1", "default")
