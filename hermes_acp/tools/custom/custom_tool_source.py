"""The custom tools that one session can use, updated every turn."""

from collections.abc import Mapping, Sequence

from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool


class CustomToolSource:
    """Own tools as a source: `renew` before a turn says what there is."""

    def __init__(self) -> None:
        self._tools: Mapping[str, Tool] = {}
        self._untold: list[str] = []
        self._told: set[str] = set()

    def renew(self, tools: Mapping[str, Tool], news: Sequence[str]) -> None:
        """Offer these from the next turn on, and tell what was not told yet."""
        self._tools = tools
        self._untold += (sentence for sentence in news if sentence not in self._told)
        self._told.update(news)

    async def run(self) -> None:
        """Do nothing: a look before each turn is all there is to do."""

    def tools(self) -> Mapping[str, Tool]:
        """Return what can be used now."""
        return self._tools

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return none."""
        return {}

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return none."""
        return {}

    def news(self) -> Sequence[str]:
        """Return what the user should know and was not told yet."""
        untold, self._untold = self._untold, []
        return untold

    async def settled(self) -> None:
        """Wait for nothing."""

    async def close(self) -> None:
        """Hold on to nothing."""
        self._tools = {}
