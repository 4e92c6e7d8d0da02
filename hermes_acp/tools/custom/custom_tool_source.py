"""The custom tools that one session can use, updated before every turn."""

from collections.abc import Mapping, Sequence

from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool


class CustomToolSource:
    """Custom tools as a tool source: `renew` sets them before each turn."""

    def __init__(self) -> None:
        self._tools: Mapping[str, Tool] = {}
        self._untold: list[str] = []
        self._told: set[str] = set()

    def renew(self, tools: Mapping[str, Tool], news: Sequence[str]) -> None:
        """Offer the given tools from the next turn on, and queue the notices that have not been reported yet."""
        self._tools = tools
        self._untold += (sentence for sentence in news if sentence not in self._told)
        self._told.update(news)

    async def run(self) -> None:
        """Do nothing: tools are renewed before each turn instead."""

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools that can be used now."""
        return self._tools

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return nothing, because custom tools offer none."""
        return {}

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return nothing, because custom tools offer none."""
        return {}

    def news(self) -> Sequence[str]:
        """Return the notices that have not been reported to the user yet."""
        untold, self._untold = self._untold, []
        return untold

    async def settled(self) -> None:
        """Return at once, because there is nothing to wait for."""

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""
        self._tools = {}
