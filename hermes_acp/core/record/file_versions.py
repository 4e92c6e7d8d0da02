"""File versions: the content of files, by digest."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from hermes_acp.core.event_types import FileVersion
from hermes_acp.core.messages import Part, ResourcePart

if TYPE_CHECKING:
    from hashlib import blake2b

DIGEST_BYTES = 16


def file_version(path: str, content: bytes) -> FileVersion:
    """Return the version of a file with this content."""
    return FileVersion(path, content_digest(content).hexdigest())


def content_digest(content: bytes = b"") -> "blake2b":
    """Return a hash object for the content, which can be updated with more."""
    from hashlib import blake2b

    return blake2b(content, digest_size=DIGEST_BYTES)


def attached_versions(parts: Iterable[Part]) -> Iterator[FileVersion]:
    """Yield the versions of files attached to a prompt in full; a partial attachment has no version."""
    for part in parts:
        if isinstance(part, ResourcePart) and part.uri.startswith("file:///"):
            yield file_version(unquote(urlsplit(part.uri).path), part.text.encode("utf-8", "replace"))
