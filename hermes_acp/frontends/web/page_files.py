"""Serve the files of the web page that `make web` builds, each with its headers.

Every file name except the document's contains a hash of the content, so the file can be cached forever. The document
gets a new nonce each time it is served.
"""

import gzip
import html
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import anyio.to_thread
from msgspec import Struct

from hermes_acp.frontends.web import messages
from hermes_acp.frontends.web.page_headers import ALWAYS, IMMUTABLE, NO_STORE, content_policy

BUILT: Final = Path(__file__).parent / "static"
NOT_BUILT: Final = Path(__file__).with_name("not_built.html")
DOCUMENT: Final = "index.html"
NONCE: Final = b"__NONCE__"
HASHED: Final = re.compile(r"[a-z0-9-]+-[A-Z0-9]{8}\.[a-z0-9]+")
TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "css": "text/css",
        "js": "text/javascript",
        "png": "image/png",
        "svg": "image/svg+xml",
        "ttf": "font/ttf",
        "webmanifest": "application/manifest+json",
    }
)


class PageFile(Struct, frozen=True):
    """One file to send."""

    headers: Mapping[str, str]
    body: bytes


class PageFiles:
    """The page's files in one folder; they may be built while the server runs."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._folder = folder

    async def find(self, path: str, *, takes_gzip: bool = False) -> PageFile | None:
        """Return the file for a URL path, or None if there is none."""
        if path == "/":
            return await anyio.to_thread.run_sync(self._document)
        name = path.removeprefix("/")
        if not HASHED.fullmatch(name):
            return None
        return await anyio.to_thread.run_sync(self._asset, name, takes_gzip)

    def _document(self) -> PageFile:
        nonce = secrets.token_urlsafe(18)
        headers = {
            **ALWAYS,
            "content-type": "text/html",
            "content-security-policy": content_policy(nonce),
            "cache-control": NO_STORE,
        }
        body = self._read(DOCUMENT)
        return PageFile(headers, (_not_built() if body is None else body).replace(NONCE, nonce.encode()))

    def _asset(self, name: str, takes_gzip: bool) -> PageFile | None:
        content_type = TYPES.get(name.rpartition(".")[2])
        compressed = self._read(f"{name}.gz")
        body = self._read(name) if compressed is None else compressed
        if body is None or content_type is None:
            return None
        headers = {
            **ALWAYS,
            "content-type": content_type,
            "cache-control": IMMUTABLE,
            "vary": "accept-encoding",
        }
        if compressed is not None and takes_gzip:
            headers["content-encoding"] = "gzip"
        return PageFile(headers, body if compressed is None or takes_gzip else gzip.decompress(body))

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except OSError:
            return None


def _not_built() -> bytes:
    """Return a document, without scripts, that says that the page has not been built."""
    document = NOT_BUILT.read_text()
    for name, words in (("TITLE", messages.NOT_BUILT), ("HINT", messages.NOT_BUILT_HINT)):
        document = document.replace(f"__{name}__", html.escape(words))
    return document.encode()
