"""A source of tools and prompts that is still being made: it offers nothing until then, and callers can wait.

A session is opened at once; the imports and the disk reads of its skills follow.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool, ToolSource


class DeferredToolSource:
    """Stands in for a source until it is made; `make` returns it, or None where there is none after all."""

    def __init__(self, make: Callable[[], Awaitable[ToolSource | None]]) -> None:
        self._make = make
        self._source: ToolSource | None = None
        self._is_made = anyio.Event()
        self._is_closed = False

    async def run(self) -> None:
        """Make the source, and be at work as that."""
        try:
            if not self._is_closed:
                self._source = await self._make()
        finally:
            self._is_made.set()
        if self._source and not self._is_closed:
            await self._source.run()

    def tools(self) -> Mapping[str, Tool]:
        """Return what can be used now."""
        return self._source.tools() if self._source else {}

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the prompts there are now."""
        return self._source.templates() if self._source else {}

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return what can be read now."""
        return self._source.libraries() if self._source else {}

    def news(self) -> Sequence[str]:
        """Return what was not told yet."""
        return self._source.news() if self._source else ()

    async def settled(self) -> None:
        """Wait until it is made and settled."""
        await self._is_made.wait()
        if self._source and not self._is_closed:
            await self._source.settled()

    async def close(self) -> None:
        """End it, also before it is made."""
        self._is_closed = True
        if self._source:
            await self._source.close()
