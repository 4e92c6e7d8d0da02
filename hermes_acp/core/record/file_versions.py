"""What files held, by digest.

Knows: how a file's bytes become a short name for them, which files a prompt brought along whole. Does not know: disks.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

from hermes_acp.core.event_types import FileVersion
from hermes_acp.core.messages import Part, ResourcePart

DIGEST_BYTES = 16


def file_version(path: str, content: bytes) -> FileVersion:
    """Name what a file holds."""
    from hashlib import blake2b

    return FileVersion(path, blake2b(content, digest_size=DIGEST_BYTES).hexdigest())


def attached_versions(parts: Iterable[Part]) -> Iterator[FileVersion]:
    """Yield the files whose text came with a prompt; a part of one names what that file never held."""
    for part in parts:
        if isinstance(part, ResourcePart) and part.uri.startswith("file:///"):
            yield file_version(unquote(urlsplit(part.uri).path), part.text.encode("utf-8", "replace"))
