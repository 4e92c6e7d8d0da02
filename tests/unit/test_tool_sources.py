"""Waiting for the tools of MCP servers in a session's first turn."""

from collections.abc import Mapping, Sequence

import anyio
import pytest

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.core.events import Event, Noticed
from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool, ToolSource
from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.tool_sources import FIRST_WAIT_S, UNATTENDED_WAIT_S, ToolSources
from hermes_acp.tools.toolbox import Toolbox
from tests.unit.agent.turns import MemoryJournal

pytestmark = pytest.mark.anyio


class SlowSource:
    """Records its deadline."""

    def __init__(self) -> None:
        self.deadlines: list[float] = []
        self.stands: list[str] = []

    async def run(self) -> None:
        raise AssertionError("nobody runs it here")

    async def close(self) -> None:
        raise AssertionError("nobody closes it here")

    def tools(self) -> Mapping[str, Tool]:
        return {}

    def templates(self) -> Mapping[str, PromptTemplate]:
        return {}

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        return {}

    def news(self) -> Sequence[str]:
        return self.stands

    async def settled(self) -> None:
        self.deadlines.append(anyio.current_effective_deadline())


class GivenTools:
    """The shared tools for a test."""

    def __init__(self, source: ToolSource, is_attended: bool) -> None:
        self._source = source
        self.is_attended = is_attended

    def shared(self) -> ToolSource:
        return self._source


@pytest.mark.parametrize(("is_attended", "longest_s"), [(True, FIRST_WAIT_S), (False, UNATTENDED_WAIT_S)])
async def test_a_session_with_one_turn_only_waits_longer(is_attended: bool, longest_s: float) -> None:
    source = SlowSource()
    sources = ToolSources(GivenTools(source, is_attended))
    asked_at = anyio.current_time()
    assert await sources.find_template("greet") is None
    answered_at = anyio.current_time()
    assert await sources.find_template("greet") is None
    (deadline,) = source.deadlines
    assert asked_at + longest_s <= deadline <= answered_at + longest_s
    assert FIRST_WAIT_S < UNATTENDED_WAIT_S


class ReportObserver:
    """Records the reports of one session."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def show(self, event: Event) -> None:
        assert isinstance(event, Noticed)
        self.sentences.append(event.text)

    async def drained(self) -> None:
        """Do nothing and keep running."""


def ledger_observed_by(audience: ReportObserver) -> Ledger:
    ledger = Ledger(MemoryJournal(), Record())
    ledger.admit(audience)
    return ledger


async def test_a_server_problem_is_reported_once_per_session_and_again_when_it_recurs() -> None:
    shared, toolbox = SlowSource(), Toolbox({})
    first, second = (ToolSources(GivenTools(shared, True)) for _ in range(2))
    reported, also_told = ReportObserver(), ReportObserver()
    ledger, other = ledger_observed_by(reported), ledger_observed_by(also_told)
    shared.stands = ["The server is away."]
    for _ in range(2):
        await first.equip(toolbox, ledger)
    await second.equip(toolbox, other)
    assert reported.sentences == also_told.sentences == ["The server is away."]
    shared.stands = []
    await first.equip(toolbox, ledger)
    shared.stands = ["The server is away."]
    await first.equip(toolbox, ledger)
    assert reported.sentences == ["The server is away."] * 2
