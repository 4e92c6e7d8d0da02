"""Let the user confirm changes, and have the editor apply them.

An editor that supports annotated edits asks its user itself; in any other editor, the user is asked a question first.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from lsprotocol import types
from msgspec import Struct

from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.frontends.lsp import messages, model_text
from hermes_acp.frontends.lsp.client.lsp_client import ClientError, LspClient
from hermes_acp.frontends.lsp.client.scratch_files import ScratchFolder
from hermes_acp.frontends.lsp.documents.open_documents import OpenDocuments
from hermes_acp.frontends.lsp.edits.proposed_edits import PendingChanges, ProposedChange, change_of, to_edit
from hermes_acp.workspaces.draft_workspace import Draft

MAX_NAMED: Final = 5
Read = Callable[[str], Awaitable[bytes | None]]


class Unapplied(Struct, frozen=True):
    """The reason why a proposed change was not applied, in one text for the user and one for the model."""

    for_user: str
    for_model: str


STALE: Final = Unapplied(messages.CHANGED_MEANWHILE, model_text.CHANGED_MEANWHILE)
CANNOT_DELETE: Final = Unapplied(messages.CANNOT_DELETE, model_text.CANNOT_DELETE)
CANNOT_EDIT: Final = Unapplied(messages.CANNOT_EDIT, model_text.CANNOT_EDIT)
DISCARDED: Final = Unapplied(messages.DISCARDED, model_text.DISCARDED)
STOPPED_EARLY: Final = Unapplied(messages.STOPPED_EARLY, model_text.STOPPED_EARLY)


class EditResult(Struct):
    """The files that were changed, and the reasons why others were not."""

    applied: list[str] = []
    unapplied: dict[str, Unapplied] = {}


class EditConfirmation:
    """Turns the drafts of an editor's sessions into edits that the user confirms."""

    def __init__(
        self, client: LspClient, documents: OpenDocuments, pending: PendingChanges, scratch: ScratchFolder
    ) -> None:
        self._client = client
        self._documents = documents
        self._pending = pending
        self._scratch = scratch

    async def confirm(self, label: str, drafts: Sequence[Draft], read: Read) -> EditResult:
        """Let the user confirm drafts, and apply the confirmed ones; `read` returns a file's current content.

        Raises ClientError.
        """
        outcome = EditResult()
        changes = await self._applicable(drafts, read, outcome)
        if changes and not self._client.can.apply_edits:
            outcome.unapplied |= {change.draft.path: CANNOT_EDIT for change in changes}
            changes = []
        if not changes:
            return outcome
        self._pending.add(changes)
        try:
            if not self._client.can.confirm_edits and not await self._is_confirmed(label, changes):
                outcome.unapplied |= {change.draft.path: DISCARDED for change in changes}
                return outcome
            applicable = await self._applicable([change.draft for change in changes], read, outcome)
            await self._apply(label, applicable, outcome)
        finally:
            self._pending.drop(changes)
        return outcome

    async def _applicable(
        self, drafts: Sequence[Draft], read: Read, outcome: EditResult
    ) -> list[ProposedChange]:
        """Return the changes that this editor can make to unchanged files; record why others are left out."""
        changes: list[ProposedChange] = []
        may_delete = (
            self._client.can.perform_operation(types.ResourceOperationKind.Delete)
            and self._client.can.use_versions
        )
        for draft in drafts:
            if await read(draft.path) != draft.before:
                outcome.unapplied[draft.path] = STALE
            elif draft.after is None and not may_delete:
                outcome.unapplied[draft.path] = CANNOT_DELETE
            else:
                changes.append(change_of(draft, self._documents.at(draft.path)))
        return changes

    async def _is_confirmed(self, label: str, changes: Sequence[ProposedChange]) -> bool:
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

    async def _apply(self, label: str, changes: Sequence[ProposedChange], outcome: EditResult) -> None:
        if not changes:
            return
        edit = to_edit(changes, self._client, self._documents, label)
        params = types.ApplyWorkspaceEditParams(edit=edit, label=label)
        try:
            answer = await self._client.ask(types.WORKSPACE_APPLY_EDIT, params)
        except ClientError as error:
            outcome.unapplied |= {
                change.draft.path: Unapplied(error.message, error.message) for change in changes
            }
            return
        if getattr(answer, "applied", False):
            outcome.applied += [change.draft.path for change in changes]
            return
        reason = getattr(answer, "failure_reason", None)
        why = Unapplied(str(reason), str(reason)) if reason else DISCARDED
        outcome.unapplied |= {change.draft.path: why for change in changes}


def _as_diff(changes: Sequence[ProposedChange]) -> str:
    """Format changes as a unified diff."""
    parts: list[str] = []
    for change in changes:
        path = escape_invisible(change.draft.path)
        parts.append(f"--- {path}\n+++ {f'({messages.DELETED})' if change.after is None else path}")
        parts += [f"@@ line {hunk.first + 1} @@\n{hunk.shown()}" for hunk in change.hunks]
    return "\n".join(parts) + "\n"
