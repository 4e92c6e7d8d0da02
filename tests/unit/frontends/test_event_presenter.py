"""What becomes of a prompt that is sent while a turn runs: a row that moves, then a line that stays."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.agent_link import AgentLink
from hermes_acp.frontends.chat.agent.chat_events import ChatEvent, EventQueue, TurnFinished, UpdateReceived
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus
from hermes_acp.frontends.chat.event_presenter import EventPresenter
from hermes_protocol import v1
from tests.unit.frontends.chat_tools import CWD, AnsweredScreen, layout, session_renderer

pytestmark = pytest.mark.anyio
ROWS, COLUMNS = 10, 60


class NoLaunch(AgentLauncher):
    """Starts nothing."""

    def __init__(self) -> None:
        pass


class Stage:
    """A teller at work, and the screen it tells on."""

    def __init__(self) -> None:
        self.events = EventQueue()
        link = AgentLink(NoLaunch(), CWD, self.events)
        on = layout()
        self.presenter = EventPresenter(
            self.events, on, session_renderer(on), SessionStatus(), link, is_sequential=False
        )
        self.screen = AnsweredScreen()
        self.presenter.attach_screen(self.screen)

    @property
    def rows(self) -> str:
        return self.presenter.live(ROWS, COLUMNS)

    async def tell(self, *event: ChatEvent) -> str:
        """Return what these events have added to what stays."""
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


async def test_what_steers_is_a_row_until_the_turn_goes_on() -> None:
    async with stage() as on:
        await on.tell(UpdateReceived(STEERING))
        await on.presenter.begin("one")
        assert on.presenter.placeholder(COLUMNS).startswith("Your message steers this turn")
        await on.presenter.begin("rather this")
        assert "❯ rather this  (steering)" in on.rows
        assert "rather this" not in await on.tell(WORDS)
        assert "❯ rather this  (steering)" in on.rows
        told = await on.tell(CALL)
        assert told.index("Some words") < told.index("❯ rather this") < told.index("Run it")
        assert "rather this" not in on.rows
        assert "rather this" not in await on.tell(
            TurnFinished("rather this", "end_turn"), TurnFinished("one", "end_turn")
        )


async def test_what_waits_is_a_row_until_its_turn_comes() -> None:
    async with stage() as on:
        await on.presenter.begin("one")
        for prompt in ("two", "three"):
            await on.presenter.begin(prompt)
        assert on.presenter.placeholder(COLUMNS).startswith("Your message waits for this turn")
        await on.tell(WORDS, CALL)
        assert on.rows.index("❯ two  (queued)") < on.rows.index("❯ three  (queued)")
        assert "❯ two" in await on.tell(TurnFinished("one", "end_turn"))
        assert "two" not in on.rows
        assert "❯ three  (queued)" in on.rows
