"""The source of a skill as users write it, and the files fetched from it."""

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.skills.git_source import Blob
from hermes_acp.storage.version_history import VersionFile

PAGE: Final = re.compile(
    r"(?P<place>https://[^/?#]+/(?:[^/?#]+/)+?[^/?#]+)(?:/-)?/tree/(?P<ref>[^/?#]+)/(?P<path>[^?#]+?)/?"
)


class Source(Struct, frozen=True):
    """The source of a skill: a folder in a repository at a branch, tag or commit, or a local folder."""

    place: str
    path: str = ""
    ref: str = ""
    is_folder: bool = False

    @property
    def text(self) -> str:
        """The source as a user would write it."""
        return f"{self.place}{f'#{self.path}' if self.path else ''}{f'@{self.ref}' if self.ref else ''}"


class FetchedFiles(Struct, frozen=True):
    """The fetched commit, the skill's folder in it, and its files. `tap` and `version` are as in `LockEntry`."""

    commit: str
    path: str
    files: dict[str, Blob]
    tap: str = ""
    version: int = 0


def read_source(text: str, cwd: Path) -> Source:
    """Parse a source: `GIT_URL[#path][@ref]`, or a folder relative to `cwd`. Raises BadRequest."""
    folder = (cwd / text).resolve()
    if folder.is_dir():
        return Source(str(folder), is_folder=True)
    text = _from_page(text)
    place, has_path, behind = text.partition("#")
    ref = ""
    if has_path:
        behind, _, ref = behind.partition("@")
    elif "@" in (last := place[place.rfind("/") + 1 :]) and "/" in place:
        place, ref = place[: len(place) - len(last)] + last.partition("@")[0], last.partition("@")[2]
    path = behind.strip("/")
    is_address = place.startswith(("https://", "ssh://", "file://")) or _is_short_ssh(place)
    if not is_address or any(part in ("", "..", ".") for part in path.split("/") if path):
        raise BadRequest(
            f"{text!r} is neither a folder here nor the address of a repository.",
            hint="Use https://host/repository.git#path/of/the/skill@tag, an ssh or file address, or a folder.",
        )
    return Source(place, path, ref)


def _from_page(text: str) -> str:
    """Convert the URL of a folder's GitHub or GitLab page to a source. Return other text unchanged."""
    found = PAGE.fullmatch(text)
    return f"{found['place']}#{found['path']}@{found['ref']}" if found else text


def _is_short_ssh(place: str) -> bool:
    head, colon, _ = place.partition(":")
    return bool(colon) and "@" in head and "/" not in head and not place.startswith("-")


def version_files(files: Mapping[str, Blob]) -> tuple[VersionFile, ...]:
    """Return fetched files in the form of a version, sorted by path."""
    found = [
        VersionFile(path, sha256(blob.content).hexdigest(), blob.is_executable)
        for path, blob in files.items()
    ]
    return tuple(sorted(found, key=lambda file: file.path))
