"""The documents the editor has open, as it shows them.

Knows: their texts, versions and changes, and which file each stands for. Does not know: what anybody does with them.
pygls keeps documents too, but ends lines where Python does: at a form feed its texts would part from the editor's.
"""

import os
from collections.abc import Callable, Iterator
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from msgspec import Struct

from hermes_acp.faces.lsp.positions import Places


class Document(Struct, frozen=True):
    """One open document; `path` is its resolved file, empty for one that is in no file."""

    uri: str
    path: str
    version: int
    text: str
    language: str


def path_of(uri: str) -> str:
    """Give the resolved path of a `file:` URI, empty for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    return os.path.realpath(path) if path.startswith("/") and "\0" not in path else ""


class Documents:
    """All open documents, with columns in the encoding that was agreed on."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        self._open: dict[str, Document] = {}
        self._places: dict[str, Places] = {}
        self._watchers: list[Callable[[str], None]] = []

    def watch(self, notice: Callable[[str], None]) -> None:
        """Have `notice` called with the URI of every document that changes or closes, at once."""
        self._watchers.append(notice)

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open.values()))

    def get(self, uri: str) -> Document | None:
        """Give an open document."""
        return self._open.get(uri)

    def at(self, path: str) -> Document | None:
        """Give the open document of a file by its resolved path."""
        return next((document for document in self._open.values() if document.path == path), None)

    def text_of(self, path: str) -> str | None:
        """Give the text of an open document by its resolved path."""
        document = self.at(path)
        return document.text if document else None

    def places(self, text: str) -> Places:
        """Count places in a text as the editor does."""
        return Places(text, self.encoding)

    def take(self, item: types.TextDocumentItem) -> None:
        """Note a document that was opened."""
        self._places.pop(item.uri, None)
        self._open[item.uri] = Document(
            item.uri, path_of(item.uri), item.version, item.text, str(item.language_id)
        )

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Follow the changes of a document, in their order; of one that is not open nothing can be known."""
        uri = params.text_document.uri
        document = self._open.get(uri)
        if document is None:
            return
        places = self._places.get(uri) or self.places(document.text)
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start = places.offset(change.range.start.line, change.range.start.character)
                end = places.offset(change.range.end.line, change.range.end.character)
                places = places.changed(start, end, change.text)
            else:
                places = self.places(change.text)
        version = params.text_document.version
        self._open[uri] = Document(uri, document.path, version, places.text, document.language)
        self._places[uri] = places
        self._tell(uri)

    def drop(self, uri: str) -> None:
        """Forget a document that was closed."""
        self._open.pop(uri, None)
        self._places.pop(uri, None)
        self._tell(uri)

    def _tell(self, uri: str) -> None:
        for notice in self._watchers:
            notice(uri)
