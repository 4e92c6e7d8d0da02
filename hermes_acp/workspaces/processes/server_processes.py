"""Processes of MCP servers: everything that a server starts ends with the server and with this process."""

from collections.abc import Mapping, Sequence

from anyio import CapacityLimiter

from hermes_acp.workspaces.processes.process_spawn import MARK
from hermes_acp.workspaces.processes.process_tree import ProcessRegistry, ProcessTree, terminate_tree
from hermes_acp.workspaces.processes.rlimit_tags import tag_of, tagged_argv


class ServerProcesses:
    """The processes of all MCP servers that one manager starts."""

    def __init__(self) -> None:
        self._registry = ProcessRegistry()
        self._threads = CapacityLimiter(2)
        self._has_begun = False

    def fresh_mark(self) -> str:
        """Prepare for a server and return its mark."""
        self._registry.begin()
        self._has_begun = True
        return self._registry.fresh_mark()

    def words(self, mark: str, argv: Sequence[str]) -> tuple[str, ...]:
        """Return a server's command words, preceded by those that mark its processes."""
        return tagged_argv(tag_of(mark), argv)

    def variables(self, mark: str) -> Mapping[str, str]:
        """Return the variable that carries a mark."""
        return {MARK: mark}

    def register_process(self, mark: str, leader: int) -> None:
        """Have a server's processes ended if this process is killed."""
        self._registry.register_process(leader, mark)

    async def end(self, mark: str, leader: int) -> None:
        """End the processes that a server left in other process groups; its own group has already ended."""
        await terminate_tree(ProcessTree(mark, None), self._threads)
        self._registry.forget_process(leader)

    async def aclose(self) -> None:
        """Stop the watcher; no server may be running."""
        if self._has_begun:
            await self._registry.close(self._threads)
