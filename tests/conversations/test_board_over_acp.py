"""A board in files or in Postgres: a client lists it, works on its cards and follows its changes."""

import os
from collections.abc import Generator

import anyio
import pytest

from examples.fleet_demo.fleet_servers import postgres
from hermes_acp.core.ports.boards.card_actions import CommentOnCard
from hermes_acp.core.ports.boards.cards import Actor
from hermes_protocol.errors import PeerError
from tests.conversations.app_scene import RealClock, Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
BOARD = "_hermes/board/"
HERMES: Json = {"hermes": {}}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as uri:
        yield uri


@pytest.fixture(params=["files", pytest.param("postgres", marks=pytest.mark.slow)])
def scene(scene: Scene, request: pytest.FixtureRequest) -> Scene:
    scene.clock = RealClock()
    if request.param == "postgres":
        scene.variables["HERMES_FLEET_DATABASE"] = request.getfixturevalue("database")
        scene.configure(f"fleet: {{tenant: over-acp-{os.urandom(6).hex()}}}")
    return scene


async def cards_of(editor: FakeEditor, after: int = 0) -> dict[str, Json]:
    listed = await editor.call(f"{BOARD}list", {"after": after})
    return {card["id"]: card for card in listed["cards"]}


async def test_an_empty_board_is_listed_and_unknown_ones_are_rejected(scene: Scene) -> None:
    async with scene.editor(_meta=HERMES) as editor:
        listed = await editor.call(f"{BOARD}list", {})
        assert (listed["boards"], listed["cards"], listed["cursor"]) == (["default"], [], 0)
        for method, params in (("show", {"id": "1"}), ("park", {"id": "1"}), ("list", {"board": "none"})):
            with pytest.raises(PeerError):
                await editor.call(f"{BOARD}{method}", params)


async def test_cards_are_added_linked_edited_moved_commented_and_removed(scene: Scene) -> None:
    async with scene.editor(_meta=HERMES) as editor:
        folder = str(scene.project)
        first = await editor.call(f"{BOARD}add", {"title": "One", "text": "Do <b>one</b>.", "folder": folder})
        wish: Json = {"title": "Two", "folder": folder, "to": "ready", "blockedBy": [first["id"]]}
        second = await editor.call(f"{BOARD}add", wish | {"priority": 1, "maxCostUsd": 0.5})
        cards = await cards_of(editor)
        assert {name: (card["title"], card["state"], card["waitsFor"]) for name, card in cards.items()} == {
            first["id"]: ("One", "inbox", []),
            second["id"]: ("Two", "ready", [first["id"]]),
        }
        edit = {"id": first["id"], "title": "Uno", "priority": 2, "checks": ["make test"]}
        await editor.call(f"{BOARD}edit", edit)
        assert list(await cards_of(editor, second["cursor"])) == [first["id"]]
        await editor.call(f"{BOARD}comment", {"id": first["id"], "text": "Careful."})
        await editor.call(f"{BOARD}move", {"id": first["id"], "to": "done"})
        shown = await editor.call(f"{BOARD}show", {"id": first["id"]})
        assert (shown["text"], shown["priority"], shown["checks"]) == ("Do <b>one</b>.", 2, ["make test"])
        assert [(each["cardId"], each["isIncoming"]) for each in shown["links"]] == [(second["id"], False)]
        assert [each["text"] for each in shown["comments"]] == ["Careful."]
        kinds = [each["kind"] for each in shown["history"]]
        assert kinds[:2] == ["added", "linked"]
        assert kinds[-2:] == ["commented", "moved"]
        assert (await editor.call(f"{BOARD}show", {"id": second["id"]}))["maxCostUsd"] == 0.5
        diff = await editor.call(f"{BOARD}diff", {"id": first["id"]})
        assert (diff["patch"], diff["note"]) == ("", "This card has no branch of its own.")
        assert (await cards_of(editor))[second["id"]]["waitsFor"] == []
        await editor.call(f"{BOARD}park", {"id": second["id"], "reason": "Not now."})
        assert (await cards_of(editor))[second["id"]]["reason"] == "Not now."
        removed = await editor.call(f"{BOARD}remove", {"id": second["id"]})
        listed = await editor.call(f"{BOARD}list", {"after": removed["cursor"] - 1})
        assert listed["removed"] == [second["id"]]
        await editor.call(f"{BOARD}remove", {"id": second["id"], "isRestored": True})
        assert second["id"] in await cards_of(editor)


async def test_actions_that_people_may_not_do_manually_are_rejected(scene: Scene) -> None:
    async with scene.editor(_meta=HERMES) as editor:
        one = (await editor.call(f"{BOARD}add", {"title": "One", "folder": str(scene.project)}))["id"]
        two = (await editor.call(f"{BOARD}add", {"title": "Two", "blockedBy": [one]}))["id"]
        for method, params in (
            ("move", {"id": one, "to": "running"}),
            ("move", {"id": one, "to": "merging"}),
            ("approve", {"id": one}),
            ("send_back", {"id": one, "words": "Again."}),
            ("answer", {"id": one, "callId": "c1", "isAllowed": True}),
            ("link", {"id": two, "kind": "blocks", "cardId": one}),
            ("add", {"title": " "}),
            ("comment", {"id": one, "text": " "}),
        ):
            with pytest.raises(PeerError):
                await editor.call(f"{BOARD}{method}", params)


async def test_a_client_is_notified_of_changes_by_others_until_it_cancels_the_call(scene: Scene) -> None:
    async with scene.editor(_meta=HERMES) as editor, anyio.create_task_group() as tasks:
        one = await editor.call(f"{BOARD}add", {"title": "One", "folder": str(scene.project)})
        tasks.start_soon(editor.call, f"{BOARD}watch", {"after": one["cursor"]})
        other = scene.open_app()
        comment = CommentOnCard(one["id"], "From elsewhere.")
        await other.board_service.act("default", comment, Actor("person", "somebody"))
        await editor.until(lambda: any(method == f"{BOARD}changed" for method, _ in editor.notified))
        changed = [params for method, params in editor.notified if method == f"{BOARD}changed"]
        assert changed == [{"board": "default", "cursor": one["cursor"] + 1}]
        assert (await cards_of(editor, one["cursor"]))[one["id"]]["comments"] == 1
        await other.aclose()
        tasks.cancel_scope.cancel()


async def plan_of(editor: FakeEditor, session_id: str, *lines: str) -> None:
    """Wait until a session's plan has these entries."""

    def is_shown() -> bool:
        plans = ShownSession(editor, session_id).of("plan")
        return bool(plans) and lines == tuple(
            f"{each['status']} {each['content']}" for each in plans[-1]["entries"]
        )

    await editor.until(is_shown)


async def said(editor: FakeEditor, session_id: str, prompt: str) -> str:
    """Send a slash command and return its answer."""
    before = len(editor.updates)
    await editor.prompt(session_id, prompt)
    return ShownSession(editor, session_id, before).text


async def test_a_session_shows_a_board_as_its_plan_and_later_clients_see_it_too(scene: Scene) -> None:
    async with scene.editor() as editor:
        session_id = await editor.new_session(str(scene.project))
        editor.laws.follow_boards.add(session_id)
        assert await said(editor, session_id, "/board add One thing") == "Card 1: inbox."
        assert "The plan shows the board 'default'." in await said(editor, session_id, "/board follow")
        await plan_of(editor, session_id, "pending 1 One thing (inbox)")
        await said(editor, session_id, "/board add Another")
        await said(editor, session_id, "/park 1 not now")
        await plan_of(
            editor, session_id, "pending 2 Another (inbox)", "pending 1 One thing (parked: not now)"
        )
        assert "**1** One thing: parked (not now)" in await said(editor, session_id, "/board")
        assert "not in review" in await said(editor, session_id, "/board approve 1")
        assert "is not waiting for an answer" in await said(editor, session_id, "/answer 1 allow")
        assert (await said(editor, session_id, "/board nonsense")).startswith("`/board` lists")
    async with scene.editor() as editor:
        editor.laws.follow_boards.add(session_id)
        await editor.call(
            "session/load", {"sessionId": session_id, "cwd": str(scene.project), "mcpServers": []}
        )
        await plan_of(
            editor, session_id, "pending 2 Another (inbox)", "pending 1 One thing (parked: not now)"
        )
        await said(editor, session_id, "/board unfollow")
        await plan_of(editor, session_id)


async def test_a_ready_card_without_a_worker_says_what_to_start(scene: Scene) -> None:
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(str(scene.project))
        await said(editor, session_id, "/board add One thing")
        assert (await editor.call(f"{BOARD}list", {}))["halted"] == ""
        answer = await said(editor, session_id, "/board ready 1")
        assert answer.startswith("Card 1: ready. No process is working")
        assert "hermes-acp worker" in answer
        assert "No process is working" in await said(editor, session_id, "/board")
        assert "No process is working" in (await editor.call(f"{BOARD}list", {}))["halted"]


async def test_a_session_takes_a_card_and_its_result_is_reviewed(scene: Scene) -> None:
    scene.provider.plays(step(call("card", action="result", text="It works.")), step("Done."))
    (scene.home / "boards" / "default").mkdir(parents=True)
    (scene.home / "boards" / "default" / "log.jsonl").touch()
    async with scene.editor(_meta=HERMES) as editor:
        session_id = await editor.new_session(str(scene.project))
        await editor.call(f"{BOARD}add", {"title": "Fix it", "text": "Please.", "folder": str(scene.project)})
        await editor.prompt(session_id, "/take 1")
        card = (await cards_of(editor))["1"]
        assert (card["state"], card["sessionId"]) == ("review", session_id)
        shown = await editor.call(f"{BOARD}show", {"id": "1"})
        assert shown["result"] == "It works."
    assert "work on card 1 of the board 'default' now, in this session: Fix it" in str(
        scene.provider.requests[0]
    )
