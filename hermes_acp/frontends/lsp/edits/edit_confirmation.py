"""Putting changes to the user, and having the editor make what they want.

Knows: when a change no longer fits its file, who asks (an editor that shows annotated edits does so itself, any other
is given a question first), what is told of the rest. Does not know: how changes came about, how edits are written.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from lsprotocol import types
from msgspec import Struct

from hermes_acp.frontends.lsp import messages, model_text
from hermes_acp.frontends.lsp.client.lsp_client import ClientError, LspClient
from hermes_acp.frontends.lsp.client.scratch_files import ScratchFolder
from hermes_acp.frontends.lsp.documents.open_documents import OpenDocuments
from hermes_acp.frontends.lsp.edits.proposed_edits import PendingChanges, ProposedChange, change_of, to_edit
from hermes_acp.tools.safe_display import escape_invisible
from hermes_acp.workspaces.draft_workspace import Draft

MAX_NAMED: Final = 5
Read = Callable[[str], Awaitable[bytes | None]]


class Unapplied(Struct, frozen=True):
    """Why a proposed change was not applied, as the user reads it and as the model reads it."""

    for_user: str
    for_model: str


STALE: Final = Unapplied(messages.CHANGED_MEANWHILE, model_text.CHANGED_MEANWHILE)
CANNOT_DELETE: Final = Unapplied(messages.CANNOT_DELETE, model_text.CANNOT_DELETE)
CANNOT_EDIT: Final = Unapplied(messages.CANNOT_EDIT, model_text.CANNOT_EDIT)
DISCARDED: Final = Unapplied(messages.DISCARDED, model_text.DISCARDED)
STOPPED_EARLY: Final = Unapplied(messages.STOPPED_EARLY, model_text.STOPPED_EARLY)


class EditResult(Struct):
    """What became of changes: the files that were changed, and why others were not."""

    applied: list[str] = []
    left: dict[str, Unapplied] = {}


class EditConfirmation:
    """The way from drafts to edits, for one editor."""

    def __init__(
        self, client: LspClient, documents: OpenDocuments, pending: PendingChanges, scratch: ScratchFolder
    ) -> None:
        self._client = client
        self._documents = documents
        self._pending = pending
        self._scratch = scratch

    async def settle(self, label: str, drafts: Sequence[Draft], read: Read) -> EditResult:
        """Put drafts to the user and apply them as they want; `read` gives what a file holds now.

        Raises ClientError.
        """
        settled = EditResult()
        changes = await self._fitting(drafts, read, settled)
        if changes and not self._client.can.apply_edits:
            settled.left |= {change.draft.path: CANNOT_EDIT for change in changes}
            changes = []
        if not changes:
            return settled
        self._pending.add(changes)
        try:
            if not self._client.can.confirm_edits and not await self._is_wanted(label, changes):
                settled.left |= {change.draft.path: DISCARDED for change in changes}
                return settled
            fitting = await self._fitting([change.draft for change in changes], read, settled)
            await self._apply(label, fitting, settled)
        finally:
            self._pending.drop(changes)
        return settled

    async def _fitting(
        self, drafts: Sequence[Draft], read: Read, settled: EditResult
    ) -> list[ProposedChange]:
        """Return the changes of files that still are what they were, and that this editor can make."""
        changes: list[ProposedChange] = []
        may_delete = (
            self._client.can.operate(types.ResourceOperationKind.Delete) and self._client.can.take_versions
        )
        for draft in drafts:
            if await read(draft.path) != draft.before:
                settled.left[draft.path] = STALE
            elif draft.after is None and not may_delete:
                settled.left[draft.path] = CANNOT_DELETE
            else:
                changes.append(change_of(draft, self._documents.at(draft.path)))
        return changes

    async def _is_wanted(self, label: str, changes: Sequence[ProposedChange]) -> bool:
        named = [
            messages.changed_file(escape_invisible(os.path.basename(each.draft.path)), each.counted)
            for each in changes[:MAX_NAMED]
        ]
        question = messages.apply_changes(label, named, len(changes) - MAX_NAMED)
        titles = [messages.APPLY, messages.DISCARD]
        titles += [messages.SHOW_DIFF] if self._client.can.show_documents else []
        while True:
            chosen = await self._client.choose(question, titles)
            if chosen != messages.SHOW_DIFF:
                return chosen == messages.APPLY
            path = await self._scratch.put("proposal.diff", _as_diff(changes))
            await self._client.show(path.as_uri())

    async def _apply(self, label: str, changes: Sequence[ProposedChange], settled: EditResult) -> None:
        if not changes:
            return
        edit = to_edit(changes, self._client, self._documents, label)
        params = types.ApplyWorkspaceEditParams(edit=edit, label=label)
        try:
            answer = await self._client.ask(types.WORKSPACE_APPLY_EDIT, params)
        except ClientError as error:
            settled.left |= {change.draft.path: Unapplied(error.message, error.message) for change in changes}
            return
        if getattr(answer, "applied", False):
            settled.applied += [change.draft.path for change in changes]
            return
        reason = getattr(answer, "failure_reason", None)
        why = Unapplied(str(reason), str(reason)) if reason else DISCARDED
        settled.left |= {change.draft.path: why for change in changes}


def _as_diff(changes: Sequence[ProposedChange]) -> str:
    """Write changes down as people read them."""
    parts: list[str] = []
    for change in changes:
        parts.append(
            f"--- {change.draft.path}\n+++ {f'({messages.DELETED})' if change.after is None else change.draft.path}"
        )
        parts += [f"@@ line {hunk.first + 1} @@\n{hunk.shown()}" for hunk in change.hunks]
    return "\n".join(parts) + "\n"
