"""Boards whose cards are worked on in real sessions, in worktrees of a real repository, up to the merge."""

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.core.messages import ModelRequest
from hermes_acp.core.ports.boards.card_actions import (
    AddCard,
    AnswerCard,
    ApproveCard,
    CardAction,
    ChangeBoard,
    CommentOnCard,
    LinkCard,
    MoveCard,
    ParkCard,
    RemoveCard,
    SendBackCard,
)
from hermes_acp.core.ports.boards.cards import Actor, BoardSettings, Card, CardState, CardWork, Link
from hermes_acp.core.ports.run_ports import RunBudget
from tests.conversations.app_scene import RealClock, Scene, plain_history
from tests.conversations.fake_editor import WAIT_S
from tests.conversations.scripted_provider import Pause, Step, call, step

pytestmark = pytest.mark.anyio
ANN = Actor("person", "ann")
BOARD = "b"
WRITE = call("write_file", path="made.txt", content="made\n")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path.resolve())
    scene.clock = RealClock()
    scene.variables |= {"HOME": str(tmp_path / "user")}
    scene.overrides["mode"] = "accept_edits"
    git(scene, "init", "-q", "--initial-branch=main")
    git(scene, "config", "user.name", "Ann")
    git(scene, "config", "user.email", "ann@example.com")
    scene.write("README.md", "# Project\n")
    git(scene, "add", ".")
    git(scene, "commit", "-qm", "Begin")
    return scene


def git(scene: Scene, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=scene.project, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@asynccontextmanager
async def opened(scene: Scene) -> AsyncGenerator[App]:
    """Start a process that maintains boards and drives runs."""
    app = scene.open_app()
    try:
        async with background_tasks(app.keep, app.run_service.work, app.board_coordinator().keep):
            yield app
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


def said_in(scene: Scene, request: int) -> str:
    """Return the text contents of a request to the model."""
    return "\n".join(plain_history(scene.provider.requests[request]))


async def act(app: App, action: CardAction, by: Actor = ANN) -> str:
    """Carry out an action and return the ID of its card."""
    await app.board_service.create(BOARD)
    changes = await app.board_service.act(BOARD, action, by)
    return changes.cards[0].card.id if changes.cards else ""


async def add(app: App, scene: Scene, title: str, **changes: object) -> str:
    work = structs.replace(CardWork(str(scene.project)), **changes)
    return await act(app, AddCard(title, f"Please: {title}", "ready", work))


async def reached(app: App, card_id: str, *states: CardState, attempt: int = 1) -> Card:
    """Wait until a card is in one of these states, in this attempt or a later one."""
    with anyio.fail_after(WAIT_S):
        async with app.board_service.watch(BOARD, 0) as changes:
            async for _ in changes:
                card = (await app.board_service.board(BOARD)).cards[card_id]
                if card.state in states and (card.attempt.number if card.attempt else 1) >= attempt:
                    return card
    raise AssertionError


async def test_a_card_is_worked_on_in_its_own_worktree_reviewed_and_merged(scene: Scene) -> None:
    scene.provider.plays(step("I write.", WRITE), step("Wrote made.txt."))
    async with opened(scene) as app:
        card = await reached(app, await add(app, scene, "Make it"), "review")
        attempt = card.attempt
        assert attempt
        assert (card.notes.result, attempt.is_open) == ("Wrote made.txt.", False)
        assert (card.spent.tokens, card.spent == attempt.spent) == (30, True)
        assert not (scene.project / "made.txt").exists()
        assert Path(attempt.folder, "made.txt").read_text() == "made\n"
        assert Path(attempt.folder).is_relative_to(Path(scene.variables["HOME"], ".local/state/hermes-acp"))
        prompt = said_in(scene, 0)
        assert "user: Make it\n\nThis is card 1 of the board 'b'." in prompt
        assert "Please: Make it" in prompt
        await act(app, ApproveCard(card.id))
        done = await reached(app, card.id, "done")
        assert done.notes.reason.startswith("Merged into main")
        assert git(scene, "log", "--format=%an %s") == "Ann Make it\nAnn Begin"
        assert (scene.project / "made.txt").exists()
        with anyio.fail_after(WAIT_S):
            while git(scene, "branch", "--list", "hermes-acp/*"):
                await anyio.sleep(0.05)
        assert not Path(attempt.folder).exists()


async def test_a_card_that_is_sent_back_continues_in_its_session(scene: Scene) -> None:
    scene.provider.plays(step("First."), step("Second."))
    async with opened(scene) as app:
        first = await reached(app, await add(app, scene, "Think"), "review")
        await act(app, SendBackCard(first.id, "Think harder."))
        second = await reached(app, first.id, "review", attempt=2)
    assert first.attempt
    assert second.attempt
    assert (second.attempt.number, second.attempt.session_id) == (2, first.attempt.session_id)
    assert second.attempt.folder == first.attempt.folder
    assert second.notes.result == "Second."
    assert "assistant: First.\nuser: Card 1 (Think) was sent back to you:\n\nThink harder." in said_in(
        scene, 1
    )


async def test_dependent_cards_start_when_their_blockers_are_done_and_see_the_result(scene: Scene) -> None:
    scene.provider.plays(step("The answer is 42."), step("Used it."))
    async with opened(scene) as app:
        later = await act(app, AddCard("Use", work=CardWork(str(scene.project))))
        first = await act(app, AddCard("Find", work=CardWork(str(scene.project))))
        await act(app, LinkCard(first, Link("blocks", later)))
        await act(app, MoveCard(later, "ready"))
        await act(app, MoveCard(first, "ready"))
        await reached(app, first, "review")
        waiting = next(each for each in await app.board_service.list(BOARD) if each.card.id == later)
        assert (waiting.card.state, waiting.waits_for, waiting.is_queued) == ("ready", (first,), False)
        await act(app, ApproveCard(first))
        await reached(app, later, "review")
    assert "Card 2, Find:\nThe answer is 42." in said_in(scene, 1)


async def test_a_question_of_a_card_is_shown_and_answered_on_the_board(scene: Scene) -> None:
    scene.overrides["mode"] = "ask"
    scene.provider.plays(step("I write.", WRITE), step("Wrote it."))
    async with opened(scene) as app:
        card = await reached(app, await add(app, scene, "Ask"), "input_required")
        assert card.notes.reason == "Create made.txt"
        shown = await app.board_service.show(BOARD, card.id)
        assert [question.card.title for question in shown.questions] == ["Create made.txt"]
    async with opened(scene) as app:
        await act(app, AnswerCard(card.id, "allow_once"))
        done = await reached(app, card.id, "review")
    assert done.attempt
    assert Path(done.attempt.folder, "made.txt").exists()


async def test_a_failed_run_parks_its_card_with_the_reason(scene: Scene) -> None:
    async with opened(scene) as app:
        gone = CardWork(str(scene.project / "gone"))
        card = await act(app, AddCard("Nowhere", to="ready", work=gone))
        parked = await reached(app, card, "parked")
        assert "gone" in parked.notes.reason
        assert parked.attempt
        assert not parked.attempt.is_open
        nowhere = await act(app, AddCard("No folder", to="ready"))
        assert (await reached(app, nowhere, "parked")).notes.reason


async def test_work_on_a_parked_card_stops(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("Thinking", pause))
    async with opened(scene) as app:
        card = await add(app, scene, "Long")
        await pause.reached.wait()
        await reached(app, card, "running")
        await act(app, ParkCard(card, "not now"))
        with anyio.fail_after(WAIT_S):
            while True:
                parked = (await app.board_service.board(BOARD)).cards[card]
                if parked.attempt and not parked.attempt.is_open:
                    break
                await anyio.sleep(0.02)
        run = await app.run_service.engine.show(f"{BOARD}.{card}.1")
        assert run
        assert (run.state, parked.state, parked.notes.reason) == ("stopped", "parked", "not now")
        with pytest.raises(Exception, match="parked") as refused:
            await act(app, ApproveCard(card))
        assert "not in review" in str(refused.value)
        await act(app, RemoveCard(card))


async def test_boards_respect_their_limits(scene: Scene) -> None:
    pauses = [Pause(), Pause(), Pause()]
    scene.provider.plays(*(step(f"Card {number}.", pause) for number, pause in enumerate(pauses)))
    async with opened(scene) as app:
        await act(app, ChangeBoard(BoardSettings(max_running=2, max_tokens=30)))
        cards = [await add(app, scene, f"Card {number}") for number in range(3)]
        await reached(app, cards[1], "running")
        await pauses[0].reached.wait()
        assert not pauses[2].reached.is_set()
        assert (await app.board_service.board(BOARD)).cards[cards[2]].attempt is None
        pauses[0].go.set()
        await pauses[2].reached.wait()
        for pause in pauses:
            pause.go.set()
        for card in cards:
            await reached(app, card, "review")
        more = await add(app, scene, "One too many")
        overview = await app.board_service.overview(BOARD)
        assert "45 of 30 tokens" in overview.halted
        await app.board_coordinator().settle()
        assert (await app.board_service.board(BOARD)).cards[more].state == "ready"


async def test_checks_approve_if_the_user_said_so(scene: Scene) -> None:
    scene.write(".hermes/config.yaml", "checks: ['test -e made.txt']\n")
    git(scene, "add", ".")
    git(scene, "commit", "-qm", "Check")
    scene.provider.plays(step("Nothing made."), step("Now.", WRITE), step("Made."))
    async with opened(scene) as app:
        card = await add(app, scene, "Make it", approval="checks", checks=("grep -q made made.txt",))
        done = await reached(app, card, "done")
    assert done.attempt
    assert done.attempt.number == 2
    assert "the check `test -e made.txt` failed there (exit code 1)" in said_in(scene, 1)
    assert git(scene, "log", "--format=%s") == "Make it\nCheck\nBegin"


async def test_a_conflict_is_returned_to_the_agent_with_its_files(scene: Scene) -> None:
    def answer(request: ModelRequest) -> Step:
        said = plain_history(request)
        if said[-1].startswith("write_file:"):
            return step("Written.")
        if "has changed since you began" in said[-1]:
            assert "<<<<<<<" in said[-1]
            return step(call("read_file", path="README.md"))
        if said[-1].startswith("read_file:"):
            content = "# Theirs and mine\n" if "<<<<<<<" in said[-1] else "# Mine\n"
            return step(call("write_file", path="README.md", content=content))
        return step(call("read_file", path="README.md"))

    scene.provider.answer = answer
    async with opened(scene) as app:
        card = await add(app, scene, "Rename")
        await reached(app, card, "review")
        scene.write("README.md", "# Theirs\n")
        git(scene, "commit", "-qam", "Meanwhile")
        await act(app, ApproveCard(card))
        await reached(app, card, "review", attempt=2)
        await act(app, ApproveCard(card))
        await reached(app, card, "done")
    assert (scene.project / "README.md").read_text() == "# Theirs and mine\n"
    assert git(scene, "log", "--format=%s") == "Rename\nMeanwhile\nBegin"


async def test_work_continues_after_a_restart_at_any_point(scene: Scene) -> None:
    scene.overrides["mode"] = "ask"
    scene.provider.plays(step("I write.", WRITE))
    async with opened(scene) as app:
        card = await add(app, scene, "Persist", budget=RunBudget(max_steps=5))
        await act(app, CommentOnCard(card, "Soon, please."))
        await reached(app, card, "input_required")
        await act(app, AnswerCard(card, "allow_once"))
    scene.provider.plays(step("Wrote it."))
    async with opened(scene) as app:
        done = await reached(app, card, "review")
    assert done.attempt
    assert (done.attempt.number, Path(done.attempt.folder, "made.txt").exists()) == (1, True)


async def test_the_agent_reports_on_its_card_and_adds_new_cards(scene: Scene) -> None:
    scene.provider.plays(
        step(
            call("board", "list"),
            call("card", "add", action="add", title="A bug", text="Look.", link="found_in", other="1"),
            call("card", "other", action="result", card="9", text="Mine"),
            call("card", "result", action="result", text="Half done"),
        ),
        step("I am done."),
    )
    async with opened(scene) as app:
        card = await reached(app, await add(app, scene, "Work"), "review")
        found = (await app.board_service.board(BOARD)).cards["2"]
    assert card.notes.result == "Half done"
    assert (found.title, found.state, found.links) == ("A bug", "inbox", (Link("found_in", "1"),))
    assert (found.created.by.kind, found.work.folder) == ("agent", str(scene.project))
    outcomes = [
        each for each in plain_history(scene.provider.requests[1]) if each.startswith(("board:", "card:"))
    ]
    assert "1 [running] Work" in outcomes[0]
    assert outcomes[1:] == [
        "card: Card 2: inbox.",
        "card: There is no card '9' on this board. List the cards: hermes-acp board list.",
        "card: Card 1: running.",
    ]


async def test_a_card_that_starts_work_is_approved_by_the_user(scene: Scene) -> None:
    scene.overrides["mode"] = "auto"
    scene.provider.plays(
        step(call("card", action="add", title="More", text="Do more.", start=True)), step("Asked.")
    )
    async with opened(scene) as app:
        card = await reached(app, await add(app, scene, "Work"), "input_required")
        assert card.notes.reason == "Start work on a new card: More"
        (question,) = (await app.board_service.show(BOARD, card.id)).questions
        assert "Do more." in question.card.diffs[0].new_text
        await act(app, AnswerCard(card.id, "reject_once"))
        await reached(app, card.id, "review")
        assert len((await app.board_service.board(BOARD)).cards) == 1


async def says(path: Path, words: str) -> None:
    """Wait until a file contains a text; while it is rewritten, it is missing for a moment."""
    with anyio.fail_after(WAIT_S):
        while True:
            with suppress(FileNotFoundError):
                if words in path.read_text():
                    return
            await anyio.sleep(0.02)


async def test_a_card_is_started_and_answered_by_editing_its_file(scene: Scene) -> None:
    scene.provider.plays(step("Thought."))
    async with opened(scene) as app:
        card = await act(app, AddCard("Think", "About it.", work=CardWork(str(scene.project))))
        path = scene.home / "boards" / BOARD / "cards" / f"{card}-think.md"
        with anyio.fail_after(WAIT_S):
            while not path.exists():
                await anyio.sleep(0.02)
        path.write_text(
            path.read_text().replace("state: inbox", "state: ready").replace("About it.", "Hard.")
        )
        await reached(app, card, "review")
        assert "Hard." in said_in(scene, 0)
        await says(path, "state: review")
        path.write_text(path.read_text().replace("state: review", "state: running"))
        aside = path.parent / ".not-saved"
        with anyio.fail_after(WAIT_S):
            while not aside.exists():
                await anyio.sleep(0.02)
        await says(path, "state: review")
        (kept,) = aside.iterdir()
        assert kept.read_text().startswith("Not saved: A card cannot be moved to running by hand.")
        path.write_text(path.read_text().replace("state: review", "state: done"))
        await reached(app, card, "done")
