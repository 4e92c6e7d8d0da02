"""Show edits while the model is still writing them."""

from typing import Final

import anyio

from hermes_acp.agent.loop.call_ids import CallIds
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.events import EditDrafted
from hermes_acp.core.messages import CallFragment
from hermes_acp.tools.editing.edit_drafts import EDITS, WRITES, EditDraft, parse_edit_draft

FRAME_S: Final = 0.05
MAX_DRAFT_CHARACTERS: Final = 200_000


class DraftStream:
    """The partial edits in one answer."""

    def __init__(self, turn: Turn, call_ids: CallIds) -> None:
        self._turn = turn
        self._call_ids = call_ids
        self._pieces: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._shown: dict[str, EditDraft] = {}
        self._grown: set[str] = set()
        self._arrived = anyio.Event()

    def add(self, fragment: CallFragment) -> None:
        """Append a fragment of a call's arguments."""
        key = fragment.key
        if self._names.setdefault(key, fragment.name) in (WRITES, EDITS):
            self._pieces.setdefault(key, []).append(fragment.arguments)
            self._grown.add(key)
            self._arrived.set()

    async def show_frames(self) -> None:
        """Show updated drafts once per frame; runs alongside the stream."""
        while True:
            await self._arrived.wait()
            await anyio.sleep(FRAME_S)
            self._arrived = anyio.Event()
            self.flush()

    def flush(self) -> None:
        """Show the drafts updated since the last frame."""
        grown, self._grown = self._grown, set()
        for key in grown:
            self._show(key)

    def _show(self, key: str) -> None:
        written = "".join(self._pieces[key])
        if len(written) > MAX_DRAFT_CHARACTERS:
            return
        draft = parse_edit_draft(self._names[key], written)
        if draft is None or draft == self._shown.get(key):
            return
        self._shown[key] = draft
        clean = self._turn.deps.redactor.clean
        drafted = EditDrafted(
            self._call_ids.own(key), draft.path, clean(draft.new_text), draft.old_text, draft.is_whole
        )
        self._turn.ledger.show(drafted)
