"""A source of tools and prompts that is created in the background and is empty until then.

It lets a session open at once, while the imports and disk reads for its skills follow. Callers can wait for it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool, ToolSource


class DeferredToolSource:
    """A placeholder for a source until `make` returns it; `make` may return None."""

    def __init__(self, make: Callable[[], Awaitable[ToolSource | None]]) -> None:
        self._make = make
        self._source: ToolSource | None = None
        self._is_made = anyio.Event()
        self._is_closed = False

    async def run(self) -> None:
        """Create the source and run it."""
        try:
            if not self._is_closed:
                self._source = await self._make()
        finally:
            self._is_made.set()
        if self._source and not self._is_closed:
            await self._source.run()

    def tools(self) -> Mapping[str, Tool]:
        """Return the currently available tools."""
        return self._source.tools() if self._source else {}

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the currently available prompts."""
        return self._source.templates() if self._source else {}

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the currently available libraries."""
        return self._source.libraries() if self._source else {}

    def news(self) -> Sequence[str]:
        """Return new notices."""
        return self._source.news() if self._source else ()

    async def settled(self) -> None:
        """Wait until the source is created and settled."""
        await self._is_made.wait()
        if self._source and not self._is_closed:
            await self._source.settled()

    async def close(self) -> None:
        """Close the source, even before it is created."""
        self._is_closed = True
        if self._source:
            await self._source.close()
