"""The unstable half of version 1 is available only with its flag."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND
from hermes_protocol.methods import ALSO_NOTIFIED, METHODS
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.shared_app import strangers
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
LEAVES: PluginFolder[Method] = PluginFolder("hermes_acp.frontends.acp.v1.methods", "METHOD")
UNSTABLE = sorted(name for name, row in METHODS.items() if row.is_unstable and row.side == "agent")
OF_RFDS = ("session_attach", "session_detach")
"""Methods that no schema has yet."""
APPEND: Json = {"mode": "append", "content": [{"type": "text", "text": "Speak like a pirate."}]}
OVERRIDE: Json = {"mode": "override", "content": [{"type": "text", "text": "You are a parrot."}]}


@pytest.fixture
def unstable(scene: Scene) -> Scene:
    scene.offer_unstable()
    return scene


def place(scene: Scene, session: str) -> Json:
    return {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}


def new(scene: Scene, **more: object) -> Json:
    return {"cwd": str(scene.project), "mcpServers": [], **more}


async def listed(editor: FakeEditor, **more: object) -> list[str]:
    return [row["sessionId"] for row in (await editor.call("session/list", more))["sessions"]]


@asynccontextmanager
async def shown_session(scene: Scene, *answers: str) -> AsyncGenerator[tuple[FakeEditor, str]]:
    """Start an editor and a session with one turn for each answer."""
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        for answer in answers:
            scene.provider.plays(step(answer))
            await editor.prompt(session, f"about {answer}")
        yield editor, session


def test_every_method_declares_its_stability() -> None:
    for key in LEAVES:
        if key in OF_RFDS:
            assert LEAVES.open(key).is_unstable
            continue
        rows = (*METHODS.values(), *ALSO_NOTIFIED.values())
        (row,) = [row for row in rows if row.key == key and row.side == "agent"]
        assert LEAVES.open(key).is_unstable == row.is_unstable, key


@pytest.mark.parametrize("name", UNSTABLE)
async def test_without_the_flag_nothing_unstable_is_available(scene: Scene, name: str) -> None:
    async with scene.strange_editor() as editor:
        agent = (await editor.initialize())["agentCapabilities"]
        assert not agent["sessionCapabilities"].keys() & {
            "fork",
            "archive",
            "status",
            "title",
            "systemPrompt",
        }
        assert "providers" not in agent
        assert agent["auth"] == {"logout": {}}
        assert (await editor.refusal(name, {"sessionId": "ses_none"})).code == METHOD_NOT_FOUND


async def test_without_the_flag_unstable_fields_are_ignored(scene: Scene) -> None:
    scene.provider.plays(step("Done."))
    async with scene.editor(plan={}) as editor:
        session = (await editor.call("session/new", new(scene, systemPrompt=OVERRIDE)))["sessionId"]
        await editor.call("session/new", new(scene, systemPrompt={"mode": "shout", "content": 7}))
        await editor.prompt(session)
        rows = (await editor.call("session/list", {"archived": "sideways"}))["sessions"]
        assert [row["sessionId"] for row in rows] == [session]
        assert not any("archived" in row for row in rows)
    assert "parrot" not in "".join(scene.provider.requests[0].system)


async def test_the_features_announced_with_the_flag_work(unstable: Scene) -> None:
    async with unstable.strange_editor() as editor:
        agent = (await editor.initialize())["agentCapabilities"]
        sessions = agent["sessionCapabilities"]
        assert {"fork", "archive", "status", "title"} <= sessions.keys()
        assert sessions["systemPrompt"] == {"mode": {"override": {}}}
        assert agent["auth"]["status"] == agent["providers"] == {}
        for name in ("fork", "archive", "unarchive", "status"):
            refusal = await editor.refusal(f"session/{name}", place(unstable, "ses_none"))
            assert refusal.code == NOT_FOUND, name
        title = {"sessionId": "ses_none", "title": "T"}
        assert (await editor.refusal("session/set_title", title)).code == NOT_FOUND


async def test_a_fork_has_the_past_and_does_not_change_the_original(unstable: Scene) -> None:
    async with shown_session(unstable, "apples") as (editor, session):
        before = unstable.record_of(session).read_bytes()
        fork = (await editor.call("session/fork", place(unstable, session)))["sessionId"]
        assert fork != session
        unstable.provider.plays(step("Pears."), step("Still apples."))
        await editor.prompt(fork, "and now?")
        assert plain_history(unstable.provider.requests[-1]) == [
            "user: about apples",
            "assistant: apples",
            "user: and now?",
        ]
        assert unstable.provider.requests[-1].system == unstable.provider.requests[0].system
        assert unstable.record_of(session).read_bytes() == before
        await editor.prompt(session, "still?")
        assert "user: and now?" not in plain_history(unstable.provider.requests[-1])
    async with unstable.editor() as editor:
        assert set(await listed(editor)) == {session, fork}
        await editor.call("session/load", place(unstable, fork))
        assert ShownSession(editor, fork).text == "applesPears."


async def test_a_fork_omits_the_running_turn_and_permanent_answers(unstable: Scene) -> None:
    fork = ""
    pause = Pause()
    write = call("write_file", "c1", path="a", content="x")
    unstable.provider.plays(step(write), step("Written."), step("I think", pause, " so."))
    async with unstable.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_always")
        session = await editor.new_session(unstable.project)
        await editor.set_mode(session, "accept_edits")
        await editor.set_mode(session, "ask")
        await editor.prompt(session)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.prompt, session, "think")
            await pause.reached.wait()
            fork = (await editor.call("session/fork", place(unstable, session)))["sessionId"]
            pause.go.set()
        unstable.provider.plays(step(call("write_file", "c2", path="a", content="y")), step("Again."))
        await editor.prompt(fork, "again")
        assert [ask["sessionId"] for ask in editor.asks("session/request_permission")] == [session, fork]
    assert "user: think" not in plain_history(unstable.provider.requests[-1])


async def test_a_fork_in_another_folder_is_told_where_it_is(unstable: Scene) -> None:
    other = unstable.project / "other"
    other.mkdir()
    async with shown_session(unstable, "apples") as (editor, session):
        params = place(unstable, session) | {"cwd": f"{other}/", "systemPrompt": OVERRIDE}
        fork = (await editor.call("session/fork", params))["sessionId"]
        unstable.provider.plays(step("Here."))
        await editor.prompt(fork, "where?")
        system = "".join(unstable.provider.requests[-1].system)
        assert str(other) in system
        assert "parrot" in system
        nowhere = place(unstable, session) | {"cwd": "nowhere"}
        assert (await editor.refusal("session/fork", nowhere)).code == INVALID_PARAMS


async def test_an_archived_session_is_hidden_until_requested(unstable: Scene) -> None:
    async with shown_session(unstable, "apples") as (editor, session):
        other = await editor.new_session(unstable.project)
        unstable.provider.plays(step("Begun."))
        await editor.prompt(other)
        for _ in range(2):
            assert await editor.call("session/archive", {"sessionId": session}) == {}
        assert (await editor.call("session/status", {"sessionId": session}))["status"] == "saved"
        assert (await editor.refusal("session/set_mode", {"sessionId": session, "modeId": "plan"})).code == (
            NOT_FOUND
        )
        assert await listed(editor) == await listed(editor, archived=None) == [other]
        assert await listed(editor, archived="only") == [session]
        assert set(await listed(editor, archived="include")) == {session, other}
        rows = (await editor.call("session/list", {"archived": "include"}))["sessions"]
        assert {row["sessionId"]: row["archived"] for row in rows} == {session: True, other: False}
        assert (await editor.refusal("session/list", {"archived": "_mine"})).code == INVALID_PARAMS
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        (unstable.home / name).unlink(missing_ok=True)
    async with unstable.editor() as editor:
        assert await listed(editor, archived="only") == [session]
        for _ in range(2):
            assert await editor.call("session/unarchive", {"sessionId": session}) == {}
        assert set(await listed(editor)) == {session, other}
        await editor.call("session/load", place(unstable, session))
        assert ShownSession(editor, session).text == "apples"


async def test_archiving_stops_running_work(unstable: Scene) -> None:
    pause = Pause()
    unstable.provider.plays(step("I think", pause))
    async with unstable.editor() as editor:
        session = await editor.new_session(unstable.project)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancelled, editor, session)
            await pause.reached.wait()
            await editor.call("session/archive", {"sessionId": session})
        assert await listed(editor, archived="only") == [session]


async def cancelled(editor: FakeEditor, session: str) -> None:
    assert await editor.prompt(session) == "cancelled"


async def test_an_archived_session_that_is_opened_is_restored(unstable: Scene) -> None:
    async with shown_session(unstable, "apples") as (editor, session):
        await editor.call("session/archive", {"sessionId": session})
        await editor.call("session/load", place(unstable, session))
        unstable.provider.plays(step("More."))
        await editor.prompt(session)
        assert await listed(editor) == []
        await editor.call("session/unarchive", {"sessionId": session})
        assert await listed(editor) == [session]


async def test_status_changes_nothing(unstable: Scene) -> None:
    async with shown_session(unstable, "apples") as (editor, session):
        assert await editor.call("session/status", {"sessionId": session}) == {"status": "open"}
    before = os.stat(unstable.record_of(session))
    async with unstable.editor() as editor:
        assert await editor.call("session/status", {"sessionId": session}) == {"status": "saved"}
        refusal = await editor.refusal("session/status", {"sessionId": "ses_none"})
        assert refusal.data == {"code": "not_found", "sessionId": "ses_none"}
        assert (await editor.refusal("session/status", {"sessionId": "../x"})).code == NOT_FOUND
    after = os.stat(unstable.record_of(session))
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


async def test_a_title_set_by_the_user_stays(unstable: Scene) -> None:
    async with unstable.editor() as editor:
        session = await editor.new_session(unstable.project)
        answer = await editor.call("session/set_title", {"sessionId": session, "title": "  My\n\tfruit "})
        assert answer == {"title": "My fruit"}
        unstable.provider.plays(step("Hi."))
        await editor.prompt(session, "a first prompt")
        assert [each["title"] for each in ShownSession(editor, session).of("session_info_update")] == [
            "My fruit"
        ]
        empty = {"sessionId": session, "title": " \n "}
        assert (await editor.refusal("session/set_title", empty)).code == INVALID_PARAMS
    async with unstable.editor() as editor:
        long = {"sessionId": session, "title": "x" * 300}
        stored = (await editor.call("session/set_title", long))["title"]
        (row,) = (await editor.call("session/list", {}))["sessions"]
        assert row["title"] == stored == "x" * 200
        assert (await editor.call("session/status", {"sessionId": session}))["status"] == "saved"


async def test_the_clients_instructions_are_part_of_the_frozen_prompt(unstable: Scene) -> None:
    unstable.provider.answer = lambda request: step("Done.")
    async with unstable.editor() as editor:
        plain = await editor.new_session(unstable.project)
        pirate = (await editor.call("session/new", new(unstable, systemPrompt=APPEND)))["sessionId"]
        parrot = (await editor.call("session/new", new(unstable, systemPrompt=OVERRIDE)))["sessionId"]
        for session in (plain, pirate, parrot, parrot):
            await editor.prompt(session)
    ours, added, replaced, again = (request.system for request in unstable.provider.requests)
    assert added == (*ours, "Speak like a pirate.")
    assert replaced == again == ("You are a parrot.", *ours[2:])
    async with unstable.editor() as editor:
        for method in ("load", "resume"):
            other = {**place(unstable, parrot), "systemPrompt": APPEND}
            assert (await editor.refusal(f"session/{method}", other)).code == INVALID_PARAMS
            status = await editor.call("session/status", {"sessionId": parrot})
            assert status == {"status": "saved"}
        await editor.call("session/load", {**place(unstable, parrot), "systemPrompt": OVERRIDE})
        await editor.prompt(parrot)
    assert unstable.provider.requests[-1].system == replaced


BAD_PROMPTS: dict[str, Json] = {
    "a mode of another time": {**APPEND, "mode": "whisper"},
    "nothing": {**APPEND, "content": []},
    "a picture": {"mode": "append", "content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
}


@pytest.mark.parametrize("name", BAD_PROMPTS)
async def test_invalid_instructions_start_no_session(unstable: Scene, name: str) -> None:
    async with unstable.editor() as editor:
        refusal = await editor.refusal("session/new", new(unstable, systemPrompt=BAD_PROMPTS[name]))
        assert refusal.code == INVALID_PARAMS
        assert await listed(editor) == []


async def test_plans_have_an_id_only_for_a_client_that_supports_it(unstable: Scene) -> None:
    def plan(*contents: str) -> Any:
        return step(call("plan", entries=[{"content": each} for each in contents]))

    announcements: list[Json] = [{"plan": {}}, {}]
    for announced in announcements:
        unstable.provider.plays(plan("Look"), plan(), step("Done."))
        async with unstable.editor(**announced) as editor:
            session = await editor.new_session(unstable.project)
            await editor.prompt(session)
            reported = ShownSession(editor, session)
        if announced:
            assert [each["plan"]["entries"][0]["content"] for each in reported.of("plan_update")] == ["Look"]
            assert [each["planId"] for each in reported.of("plan_removed")] == ["plan"]
            assert reported.of("plan") == []
        else:
            assert [len(each["entries"]) for each in reported.of("plan")] == [1, 0]


@pytest.mark.parametrize(
    "meta", [{"hermes": {"unstable": True}}, {"hermes": {"unstable": "x"}}, {"hermes": 1}, 1]
)
async def test_a_client_can_request_it_for_a_connection(scene: Scene, meta: object) -> None:
    asks = meta == {"hermes": {"unstable": True}}
    async with strangers(scene, 2) as (first, second):
        answer = await first.call("initialize", {"protocolVersion": 1, "_meta": meta})
        assert ("fork" in answer["agentCapabilities"]["sessionCapabilities"]) is asks
        other = await second.call("initialize", {"protocolVersion": 1})
        assert "fork" not in other["agentCapabilities"]["sessionCapabilities"]
