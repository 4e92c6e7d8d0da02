"""Record which tools a session's requests offer, so that the session can be exported with their schemas."""

from collections import deque
from operator import is_
from typing import TYPE_CHECKING, Final

from anyio.to_thread import run_sync

from hermes_acp import __version__
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import ToolsOffered
from hermes_acp.storage.tool_schema_store import OfferedTools, ToolSchemaStore, digest_of

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.agent.turn.turn_endings import Ending

RECENT: Final = 16
"""How many sets of tools are recognised by object identity, without hashing their schemas."""


class OfferedToolsRecorder:
    """Records the digest of a session's tools whenever it changes, and stores one copy of each set."""

    def __init__(self, store: ToolSchemaStore) -> None:
        self._store = store
        self._recent: deque[tuple[OfferedTools, str]] = deque(maxlen=RECENT)
        self._kept: set[str] = set()

    async def note(self, turn: "Turn") -> "Ending | None":
        """Record the tools of the next request if they differ from those of the last one.

        If a copy cannot be stored, the turn continues; an export then lacks the schemas and says so.
        """
        toolbox = turn.deps.toolbox
        offered = OfferedTools(toolbox.schemas, toolbox.deferred_schemas)
        digest = next((known for tools, known in self._recent if _are_the_same(tools, offered)), None)
        if digest is None or (digest != turn.record.tools_digest and digest not in self._kept):
            digest = await run_sync(self._keep, offered)
            self._recent.append((offered, digest))
        if digest != turn.record.tools_digest:
            turn.emit(ToolsOffered(digest, __version__))
        return None

    def _keep(self, offered: OfferedTools) -> str:
        digest = digest_of(offered)
        if digest not in self._kept:
            try:
                self._store.keep(offered)
            except StorageError:
                return digest
            self._kept.add(digest)
        return digest


def _are_the_same(some: OfferedTools, others: OfferedTools) -> bool:
    """Return whether two sets consist of the same objects: schemas are created once and shared by toolboxes."""
    return all(
        len(one) == len(other) and all(map(is_, one, other))
        for one, other in ((some.tools, others.tools), (some.deferred, others.deferred))
    )
