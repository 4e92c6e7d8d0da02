"""A prompt sent while a turn runs: first a temporary row, then a permanent line."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.agent_link import AgentLink
from hermes_acp.frontends.chat.agent.chat_events import (
    ChatEvent,
    EventQueue,
    PromptSent,
    SessionOpened,
    TurnFinished,
    UpdateReceived,
)
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus
from hermes_acp.frontends.chat.event_presenter import EventPresenter
from hermes_acp.frontends.chat.prompt_queue import PromptQueue
from hermes_protocol import v1
from tests.unit.frontends.chat_tools import CWD, AnsweredScreen, layout, session_renderer

pytestmark = pytest.mark.anyio
ROWS, COLUMNS = 10, 60


class NoLaunch(AgentLauncher):
    """Launches nothing."""

    def __init__(self) -> None:
        pass


class Stage:
    """An event presenter, and the screen it writes to."""

    def __init__(self) -> None:
        self.events = EventQueue()
        link = AgentLink(NoLaunch(), CWD, self.events)
        on = layout()
        self.prompts = PromptQueue()
        self.renderer = session_renderer(on)
        self.presenter = EventPresenter(
            self.events, on, self.renderer, SessionStatus(), link, self.prompts, is_sequential=False
        )
        self.screen = AnsweredScreen()
        self.presenter.attach_screen(self.screen)

    @property
    def rows(self) -> str:
        return self.presenter.live(ROWS, COLUMNS)

    async def send(self, prompt: str) -> str:
        """Send the prompt that waits longest; return what this has added to the permanent output."""
        with anyio.fail_after(20):
            assert await self.prompts.take_next() == prompt
        return await self.tell(PromptSent(prompt))

    async def steer(self, prompt: str) -> None:
        self.prompts.add_sent()
        await self.tell(PromptSent(prompt, steers=True))

    async def tell(self, *event: ChatEvent) -> str:
        """Return what these events have added to the permanent output."""
        before = len(self.screen.written)
        for each in event:
            self.events.put(each)
        with anyio.fail_after(20):
            await self.events.all_shown()
        return self.screen.written[before:]


@asynccontextmanager
async def stage() -> AsyncGenerator[Stage]:
    set_up = Stage()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(set_up.presenter.run)
        yield set_up
        tasks.cancel_scope.cancel()
    set_up.events.close()


STEERING = v1.ConfigOptionUpdate(
    config_options=[
        v1.SessionConfigOptionSelect(id="during_turn", name="x", current_value="steer", options=[])
    ]
)
WORDS = UpdateReceived(v1.AgentMessageChunk(content=v1.TextContent(text="Some words"), message_id="m"))
CALL = UpdateReceived(v1.ToolCall(tool_call_id="c", title="Run it", kind="execute", status="completed"))


def recorded(message_id: str) -> UpdateReceived:
    return UpdateReceived(
        v1.SessionInfoUpdate(meta={"hermes": {"promptRecorded": {"messageId": message_id}}})
    )


async def test_a_steering_message_is_a_row_until_the_turn_reads_it() -> None:
    async with stage() as on:
        await on.tell(UpdateReceived(STEERING))
        on.prompts.add("one")
        await on.send("one")
        await on.tell(recorded("1"))
        assert on.presenter.placeholder(COLUMNS).startswith("Your message steers this turn")
        await on.steer("rather this")
        assert "❯ rather this  (steering)" in on.rows
        assert "rather this" not in await on.tell(WORDS)
        assert "❯ rather this  (steering)" in on.rows
        reported = await on.tell(recorded("2"), CALL)
        assert reported.index("Some words") < reported.index("❯ rather this") < reported.index("Run it")
        assert "rather this" not in on.rows
        assert "rather this" not in await on.tell(
            TurnFinished("rather this", "end_turn"), TurnFinished("one", "end_turn")
        )


async def test_a_queued_prompt_is_a_row_until_its_turn_starts() -> None:
    async with stage() as on:
        for prompt in ("one", "two", "three"):
            on.prompts.add(prompt)
        assert "❯ one" in await on.send("one")
        assert on.presenter.placeholder(COLUMNS).startswith("Your message waits for this turn")
        await on.tell(WORDS, CALL)
        assert on.rows.index("❯ two  (queued)") < on.rows.index("❯ three  (queued)")
        assert "two" not in await on.tell(TurnFinished("one", "end_turn"))
        assert "❯ two" in await on.send("two")
        assert "two" not in on.rows
        assert "❯ three  (queued)" in on.rows


async def test_a_long_queue_is_counted_instead_of_listed() -> None:
    async with stage() as on:
        for number in range(45):
            on.prompts.add(f"prompt {number}")
        await on.send("prompt 0")
        rows = on.rows.splitlines()
        assert len(rows) <= ROWS
        assert "❯ prompt 1  (queued)" in on.rows
        assert "… 40 more" in rows[-1]


@pytest.mark.parametrize("was_recorded", [True, False])
async def test_a_stopped_prompt_returns_unless_it_was_recorded(was_recorded: bool) -> None:
    async with stage() as on:
        on.prompts.add("one")
        await on.send("one")
        if was_recorded:
            await on.tell(recorded("1"))
        assert "Stopped." in await on.tell(TurnFinished("one", "cancelled"))
        assert on.screen.put_back_texts == ([] if was_recorded else ["one"])


async def test_stopped_messages_that_did_not_steer_return_together() -> None:
    async with stage() as on:
        await on.tell(UpdateReceived(STEERING))
        on.prompts.add("one")
        await on.send("one")
        await on.tell(recorded("1"))
        for prompt in ("two", "three"):
            await on.steer(prompt)
        ends = [TurnFinished(prompt, "cancelled") for prompt in ("two", "three", "one")]
        assert (await on.tell(*ends)).count("Stopped.") == 1
        assert on.screen.put_back_texts == ["two\nthree"]


def state(name: str, turn_id: str) -> UpdateReceived:
    return UpdateReceived(v1.SessionInfoUpdate(meta={"hermes": {name: {"turnId": turn_id}}}))


async def test_a_turn_of_another_client_keeps_its_cards_open_until_it_ends() -> None:
    async with stage() as on:
        await on.tell(state("turnBegan", "turn_1"))
        await on.tell(UpdateReceived(v1.ToolCall(tool_call_id="c1", title="Write a", status="pending")))
        await on.tell(SessionOpened("ses_1", has_past=True))
        assert "Write a" in on.rows
        assert on.presenter.is_busy
        assert await on.tell(state("turnEnded", "turn_0")) == ""
        assert "Write a" in await on.tell(state("turnEnded", "turn_1"))
        assert not on.presenter.is_busy


async def test_an_answer_given_elsewhere_names_who_gave_it_and_counts_for_its_edit() -> None:
    async with stage() as on:
        await on.tell(UpdateReceived(v1.ToolCall(tool_call_id="c1", title="Write a", status="pending")))
        answered = v1.SessionUpdateToolCallUpdate(
            tool_call_id="c1", meta={"hermes": {"answeredBy": "Zed", "answer": "allow_once"}}
        )
        assert "Answered in Zed." in await on.tell(UpdateReceived(answered))
        diff = v1.Diff(path="/a", old_text=None, new_text="new")
        done = v1.SessionUpdateToolCallUpdate(tool_call_id="c1", status="completed", content=[diff])
        await on.tell(UpdateReceived(done))
        assert on.renderer.unasked_remark(is_shown=True) == ""
