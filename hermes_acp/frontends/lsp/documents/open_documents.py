"""The documents the editor has open, as it shows them.

Knows: their texts, versions and changes, and which file each stands for. Does not know: what anybody does with them.
pygls keeps documents too, but ends lines where Python does: at a form feed its texts would part from the editor's.
"""

import os
from collections.abc import Callable, Iterator
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from msgspec import Struct

from hermes_acp.frontends.lsp.documents.text_positions import Positions


class Document(Struct, frozen=True):
    """One open document; `path` is its resolved file, empty for one that is in no file."""

    uri: str
    path: str
    version: int
    text: str
    language: str


def path_of(uri: str) -> str:
    """Return the resolved path of a `file:` URI, empty for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    return os.path.realpath(path) if path.startswith("/") and "\0" not in path else ""


class OpenDocuments:
    """All open documents, with columns in the encoding that was agreed on."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        self._open: dict[str, Document] = {}
        self._positions: dict[str, Positions] = {}
        self._watchers: list[Callable[[str], None]] = []

    def watch(self, notice: Callable[[str], None]) -> None:
        """Have `notice` called with the URI of every document that changes or closes, at once."""
        self._watchers.append(notice)

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open.values()))

    def get(self, uri: str) -> Document | None:
        """Return an open document."""
        return self._open.get(uri)

    def at(self, path: str) -> Document | None:
        """Return the open document of a file by its resolved path."""
        return next((document for document in self._open.values() if document.path == path), None)

    def text_of(self, path: str) -> str | None:
        """Return the text of an open document by its resolved path."""
        document = self.at(path)
        return document.text if document else None

    def positions(self, text: str) -> Positions:
        """Count positions in a text as the editor does."""
        return Positions(text, self.encoding)

    def take(self, item: types.TextDocumentItem) -> None:
        """Note a document that was opened."""
        self._positions.pop(item.uri, None)
        self._open[item.uri] = Document(
            item.uri, path_of(item.uri), item.version, item.text, str(item.language_id)
        )

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Follow the changes of a document, in their order; of one that is not open nothing can be known."""
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
        """Forget a document that was closed."""
        self._open.pop(uri, None)
        self._positions.pop(uri, None)
        self._tell(uri)

    def _tell(self, uri: str) -> None:
        for notice in self._watchers:
            notice(uri)
