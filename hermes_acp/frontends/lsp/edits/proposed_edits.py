"""Convert drafts to edits that the editor can apply.

Source: LSP 3.18, "WorkspaceEdit".
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lsprotocol import types
from msgspec import Struct

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.client.lsp_client import LspClient
from hermes_acp.frontends.lsp.documents.open_documents import Document, OpenDocuments
from hermes_acp.frontends.lsp.edits.line_hunks import LineHunk, hunks_of
from hermes_acp.workspaces.draft_workspace import Draft

BYTE_ORDER_MARK: Final = "\ufeff"
DocumentChange = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile


class ProposedChange(Struct, frozen=True):
    """The change to one file; `version` is that of its open document, or None.

    `before` is None for a new file, `after` for a deleted one.
    """

    draft: Draft
    uri: str
    version: int | None
    before: str | None
    after: str | None
    hunks: tuple[LineHunk, ...]

    @property
    def counted(self) -> str:
        """The numbers of added and removed lines, as a phrase."""
        new = sum(len(hunk.new.splitlines()) for hunk in self.hunks)
        old = sum(len(hunk.old.splitlines()) for hunk in self.hunks)
        return messages.DELETED if self.after is None else messages.lines_changed(new, old)


def change_of(draft: Draft, document: Document | None) -> ProposedChange:
    """Build the change from a draft and its file or open document; the editor handles byte order marks itself."""
    before = None if draft.before is None else draft.before.decode("utf-8").removeprefix(BYTE_ORDER_MARK)
    after = None if draft.after is None else draft.after.decode("utf-8").removeprefix(BYTE_ORDER_MARK)
    uri = document.uri if document else Path(draft.path).as_uri()
    version = document.version if document else None
    return ProposedChange(draft, uri, version, before, after, hunks_of(before or "", after or ""))


def to_edit(
    changes: Sequence[ProposedChange], client: LspClient, documents: OpenDocuments, label: str
) -> types.WorkspaceEdit:
    """Convert changes to one edit, in a form that this editor supports."""
    if not client.can.use_versions:
        return types.WorkspaceEdit(
            changes={
                change.uri: list(_text_edits(change, documents))
                for change in changes
                if change.after is not None
            }
        )
    edits: list[DocumentChange] = []
    notes: dict[str, types.ChangeAnnotation] = {}
    for number, change in enumerate(changes):
        note_id = f"hermes-{number}" if client.can.confirm_edits else None
        if note_id:
            notes[note_id] = types.ChangeAnnotation(
                label=label,
                needs_confirmation=True,
                description=messages.changed_file(change.draft.path, change.counted),
            )
        edits += _document_changes(change, client, documents, note_id)
    return types.WorkspaceEdit(document_changes=edits, change_annotations=notes or None)


def _document_changes(
    change: ProposedChange, client: LspClient, documents: OpenDocuments, note_id: str | None
) -> list[DocumentChange]:
    """Return the part of an edit about one file; an editor that cannot create files gets plain text edits."""
    if change.after is None:
        return [types.DeleteFile(uri=change.uri, annotation_id=note_id)]
    edits: list[DocumentChange] = []
    if change.before is None and client.can.perform_operation(types.ResourceOperationKind.Create):
        options = types.CreateFileOptions(overwrite=False, ignore_if_exists=False)
        edits.append(types.CreateFile(uri=change.uri, options=options, annotation_id=note_id))
    document = types.OptionalVersionedTextDocumentIdentifier(uri=change.uri, version=change.version)
    plain = _text_edits(change, documents)
    if note_id is None:
        edits.append(types.TextDocumentEdit(text_document=document, edits=plain))
    else:
        noted = [
            types.AnnotatedTextEdit(annotation_id=note_id, range=edit.range, new_text=edit.new_text)
            for edit in plain
        ]
        edits.append(types.TextDocumentEdit(text_document=document, edits=noted))
    return edits


def _text_edits(change: ProposedChange, documents: OpenDocuments) -> list[types.TextEdit]:
    positions = documents.positions(change.before or "")
    return [
        types.TextEdit(
            range=types.Range(
                start=_position(positions.place(positions.offset(hunk.first, 0))),
                end=_position(positions.place(positions.offset(hunk.last, 0))),
            ),
            new_text=hunk.new,
        )
        for hunk in change.hunks
    ]


def _position(place: tuple[int, int]) -> types.Position:
    return types.Position(line=place[0], character=place[1])


class PendingChanges:
    """The changes that are waiting for the user's confirmation."""

    def __init__(self) -> None:
        self._waiting: dict[str, ProposedChange] = {}

    def add(self, changes: Sequence[ProposedChange]) -> None:
        """Add changes that the user is asked about."""
        self._waiting |= {change.uri: change for change in changes}

    def drop(self, changes: Sequence[ProposedChange]) -> None:
        """Remove changes about which the user has decided."""
        for change in changes:
            if self._waiting.get(change.uri) is change:
                del self._waiting[change.uri]

    def at(self, uri: str, line: int, version: int | None) -> LineHunk | None:
        """Return the hunk at a line, if the document still has the version to which the change applies."""
        change = self._waiting.get(uri)
        if change is None or change.version != version:
            return None
        return next((hunk for hunk in change.hunks if hunk.covers(line)), None)
