"""Decide which context files a session may use without asking the user.

It may use files that existed when it started, and content that the user has approved since then. A file that appears or
changes later could have been planted by a command, so the user is asked. Blocks on disk access.
"""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.context.context_search import ContextCandidate

MAX_LINKS: Final = 40
COARSE_NS: Final = 2_000_000_000
"""The tolerance for timestamps without fractions; some file systems have a resolution of two seconds."""
SECOND_NS: Final = 1_000_000_000


class Consent(Struct, frozen=True):
    """What a session may use: files older than `began_at` (seconds since the epoch), and approved content.

    `answers` are the user's answers, by SHA-256 of the content. `is_trusted` says whether a file, given its label and
    digest, was approved in another session; `rejected` contains the digests of content rejected there.
    """

    began_at: float
    answers: Mapping[str, bool]
    is_trusted: Callable[[str, str], bool]
    rejected: frozenset[str] = frozenset()

    def admits(self, candidate: ContextCandidate, digest: str) -> bool:
        """Return whether a file with this content may be used."""
        if (answer := self.answers.get(digest)) is not None:
            return answer
        if digest in self.rejected:
            return False
        return existed_at(candidate.path, self.began_at) or self.is_trusted(candidate.label, digest)

    def may_withhold(self, began_at: float) -> bool:
        """Return whether files that existed when a session started may have to be withheld."""
        return self.began_at < began_at or bool(self.rejected)


def existed_at(path: Path, at: float) -> bool:
    """Return whether a file, and each link on its path, was last changed before a given time.

    This uses the inode's change time, which is set by writing, renaming and linking. Unlike the modification time, it
    cannot be set back by programs.
    """
    try:
        return all(_is_before(status.st_ctime_ns, at) for status in _inodes(path))
    except OSError:
        return False


def _is_before(changed_ns: int, at: float) -> bool:
    slack_ns = 0 if changed_ns % SECOND_NS else COARSE_NS
    return changed_ns + slack_ns < at * SECOND_NS


def _inodes(path: Path) -> Iterator[os.stat_result]:
    """Yield the file and every link on its path. Raises OSError."""
    current, rest, links = Path(path.anchor), deque(path.parts[1:]), 0
    while rest:
        part = rest.popleft()
        if part == os.pardir:
            current = current.parent
            continue
        status = (current / part).lstat()
        if not stat.S_ISLNK(status.st_mode):
            current /= part
            if not rest:
                yield status
            continue
        yield status
        links += 1
        if links > MAX_LINKS:
            raise OSError(f"{path} goes through more than {MAX_LINKS} links")
        target = Path(os.readlink(current / part))
        rest.extendleft(reversed(target.parts[1:] if target.is_absolute() else target.parts))
        if target.is_absolute():
            current = Path(target.anchor)
