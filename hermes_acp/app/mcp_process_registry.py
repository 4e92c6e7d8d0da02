"""The care for processes of MCP servers: whatever one starts ends with it, and with this process.

Knows: how commands' processes are marked, found again and ended. Does not know: servers, what they are for.
"""

from collections.abc import Mapping, Sequence

from anyio import CapacityLimiter

from hermes_acp.workspaces.limit_tags import tag_of, tagged_words
from hermes_acp.workspaces.processes import Caretaker, Family, end_family
from hermes_acp.workspaces.starts import MARK


class ServerCustody:
    """The `Custody` of all servers that one employer starts."""

    def __init__(self) -> None:
        self._care = Caretaker()
        self._threads = CapacityLimiter(2)
        self._has_begun = False

    def fresh_mark(self) -> str:
        """Be ready for a server, and give its mark."""
        self._care.begin()
        self._has_begun = True
        return self._care.fresh_mark()

    def words(self, mark: str, argv: Sequence[str]) -> tuple[str, ...]:
        """Give a server's words behind those that put its mark on its processes."""
        return tagged_words(tag_of(mark), argv)

    def variables(self, mark: str) -> Mapping[str, str]:
        """Give the variable that carries a mark."""
        return {MARK: mark}

    def note_begun(self, mark: str, leader: int) -> None:
        """Have a server's processes ended should this process be killed."""
        self._care.note_begun(leader, mark)

    async def end(self, mark: str, leader: int) -> None:
        """End what a server started and left behind in groups of its own; its own group has ended."""
        await end_family(Family(mark, None), self._threads)
        self._care.note_ended(leader)

    async def aclose(self) -> None:
        """Let the watcher go; no server lives."""
        if self._has_begun:
            await self._care.close(self._threads)
