"""How long a first turn waits for the tools of servers."""

from collections.abc import Mapping, Sequence

import anyio
import pytest

from hermes_acp.core.ports import Library, Template, Tool
from hermes_acp.sessions.tool_sources import FIRST_WAIT_S, UNATTENDED_WAIT_S, ToolSources

pytestmark = pytest.mark.anyio


class SlowSource:
    """Notes how long it is waited for."""

    def __init__(self) -> None:
        self.patience_s: list[float] = []

    async def run(self) -> None:
        raise AssertionError("nobody runs it here")

    async def close(self) -> None:
        raise AssertionError("nobody closes it here")

    def tools(self) -> Mapping[str, Tool]:
        return {}

    def templates(self) -> Mapping[str, Template]:
        return {}

    def libraries(self) -> Mapping[str, Library]:
        return {}

    def news(self) -> Sequence[str]:
        return ()

    async def settled(self) -> None:
        self.patience_s.append(anyio.current_effective_deadline() - anyio.current_time())


@pytest.mark.parametrize(("is_attended", "longest_s"), [(True, FIRST_WAIT_S), (False, UNATTENDED_WAIT_S)])
async def test_where_nobody_is_there_for_a_second_turn_the_first_waits_longer(
    is_attended: bool, longest_s: float
) -> None:
    source = SlowSource()
    sources = ToolSources(lambda: source, lambda: is_attended)
    for _ in range(2):
        assert await sources.find_template("greet") is None
    (patience_s,) = source.patience_s
    assert longest_s - 1 < patience_s <= longest_s
    assert FIRST_WAIT_S < UNATTENDED_WAIT_S
