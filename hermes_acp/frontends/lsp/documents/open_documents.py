"""Track the documents that the editor has open, including unsaved text.

pygls tracks documents, too, but it breaks lines at characters such as form feeds, unlike the protocol.
"""

import os
from collections.abc import Callable, Iterator
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from msgspec import Struct

from hermes_acp.frontends.lsp.documents.text_positions import Positions


class Document(Struct, frozen=True):
    """An open document; `path` is the resolved path of its file, or empty."""

    uri: str
    path: str
    version: int
    text: str
    language: str


def path_of(uri: str) -> str:
    """Return the resolved path of a `file:` URI, or an empty string."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    return os.path.realpath(path) if path.startswith("/") and "\0" not in path else ""


class OpenDocuments:
    """All open documents; columns count in the agreed encoding."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        self._open: dict[str, Document] = {}
        self._positions: dict[str, Positions] = {}
        self._watchers: list[Callable[[str], None]] = []

    def watch(self, notice: Callable[[str], None]) -> None:
        """Call `notice` with the URI of every document that changes or closes."""
        self._watchers.append(notice)

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open.values()))

    def get(self, uri: str) -> Document | None:
        """Return an open document."""
        return self._open.get(uri)

    def at(self, path: str) -> Document | None:
        """Return the open document of a resolved path."""
        return next((document for document in self._open.values() if document.path == path), None)

    def text_of(self, path: str) -> str | None:
        """Return the text of the open document of a resolved path."""
        document = self.at(path)
        return document.text if document else None

    def positions(self, text: str) -> Positions:
        """Index a text for positions in the editor's encoding."""
        return Positions(text, self.encoding)

    def take(self, item: types.TextDocumentItem) -> None:
        """Add a document that was opened."""
        self._positions.pop(item.uri, None)
        self._open[item.uri] = Document(
            item.uri, path_of(item.uri), item.version, item.text, str(item.language_id)
        )

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply changes in order; ignore a document that is not open."""
        uri = params.text_document.uri
        document = self._open.get(uri)
        if document is None:
            return
        positions = self._positions.get(uri) or self.positions(document.text)
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start = positions.offset(change.range.start.line, change.range.start.character)
                end = positions.offset(change.range.end.line, change.range.end.character)
                positions = positions.changed(start, end, change.text)
            else:
                positions = self.positions(change.text)
        version = params.text_document.version
        self._open[uri] = Document(uri, document.path, version, positions.text, document.language)
        self._positions[uri] = positions
        self._tell(uri)

    def drop(self, uri: str) -> None:
        """Remove a document that was closed."""
        self._open.pop(uri, None)
        self._positions.pop(uri, None)
        self._tell(uri)

    def _tell(self, uri: str) -> None:
        for notice in self._watchers:
            notice(uri)
