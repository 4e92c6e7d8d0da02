"""Record which tools a session's requests describe, so that it can be exported with their schemas."""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from anyio.to_thread import run_sync

from hermes_acp import __version__
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import ToolsOffered
from hermes_acp.storage.tool_schema_store import OfferedTools, ToolSchemaStore, digest_of

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.agent.turn.turn_endings import Ending
    from hermes_acp.tools.toolbox import Toolbox


class OfferedToolsRecorder:
    """Records the digest of a session's tools when it changes, and stores one copy of each set."""

    def __init__(self, store: ToolSchemaStore) -> None:
        self._store = store
        self._digests: WeakKeyDictionary[Toolbox, str] = WeakKeyDictionary()
        self._kept: set[str] = set()

    async def note(self, turn: "Turn") -> "Ending | None":
        """Record the tools of the next request if they differ from those of the last one.

        A copy that cannot be stored ends no turn: an export then lacks the schemas and reports it.
        """
        toolbox = turn.deps.toolbox
        digest = self._digests.get(toolbox)
        if digest is None or (digest != turn.record.tools_digest and digest not in self._kept):
            offered = OfferedTools(toolbox.schemas, toolbox.deferred_schemas)
            digest = await run_sync(self._keep, offered)
            self._digests[toolbox] = digest
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
