"""Approved and rejected context files by folder, shared by all sessions of this process.

The answers are stored in the home folder. The start times of sessions, and what their context files import, are kept
only for the lifetime of the process.
"""

import math
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from hermes_acp.core.ports.trust_ports import REJECTED, Trust, TrustedItem, TrustItem
from hermes_acp.storage.workspace_entries import WorkspaceEntries

CONTEXT_FILE: Final = "context_file"


class ContextApprovals:
    """Stores users' answers about context files and the start times of sessions; thread-safe."""

    def __init__(self, trust: Trust, answers: WorkspaceEntries[TrustedItem]) -> None:
        """Create the store; `trust` knows what users trust, and `answers` stores their answers."""
        self._trust = trust
        self._answers = answers
        self._lock = threading.Lock()
        self._began: dict[str, float] = {}
        self._approved: dict[str, set[str]] = {}
        self._imports: dict[str, dict[str, str]] = {}

    def is_approved(self, place: str, path: str, digest: str) -> bool:
        """Return whether the user approved this content in any session in a folder."""
        with self._lock:
            if digest in self._approved.get(os.path.realpath(place), ()):
                return True
        return self._trust.is_trusted(place, TrustItem(CONTEXT_FILE, path, digest))

    def rejected(self, place: str) -> frozenset[str]:
        """Return the digests of content that the user rejected in a folder."""
        kept = self._answers.of(os.path.realpath(place))
        return frozenset(entry.digest for entry in kept if entry.kind == REJECTED)

    def approve(self, place: str, path: str, digest: str) -> None:
        """Allow this content in later sessions in a folder too. Raises StorageError."""
        self._answers.change(
            os.path.realpath(place),
            lambda kept: (
                *(
                    each
                    for each in kept
                    if (each.kind, each.name) != (CONTEXT_FILE, path)
                    and (each.kind, each.digest) != (REJECTED, digest)
                ),
                TrustedItem(CONTEXT_FILE, path, digest),
            ),
        )

    def reject(self, place: str, path: str, digest: str) -> None:
        """Make later sessions in a folder ask before they use this content. Raises StorageError."""
        self._answers.change(
            os.path.realpath(place),
            lambda kept: (
                *(each for each in kept if each.kind != CONTEXT_FILE or each.digest != digest),
                TrustedItem(REJECTED, path, digest),
            ),
        )

    def note_session(self, roots: Iterable[str], at: float, approved: Iterable[str]) -> None:
        """Record when a session started to work in its folders, and the digests that were approved in it."""
        with self._lock:
            for root in map(os.path.realpath, roots):
                self._began[root] = min(at, self._began.get(root, at))
                self._approved.setdefault(root, set()).update(approved)

    def began_at(self, roots: Iterable[str], at: float) -> float:
        """Return when the first session in or around these folders started, or `at` if that is earlier."""
        folders = tuple(map(os.path.realpath, roots))
        with self._lock:
            earlier = [
                began for root, began in self._began.items() if any(_overlap(root, each) for each in folders)
            ]
        return min((at, *earlier))

    def admits_skill_file(self, place: str, file: Path, item: TrustItem | None) -> bool:
        """Return whether a file of a workspace skill may be used. Blocks.

        It may be used if it existed when the first session started in or around the folder, or if the user trusts
        `item`, the trust item for the skill's text.
        """
        from hermes_acp.context.context_consent import existed_at

        began_at = self.began_at((place,), math.inf)
        if began_at == math.inf or existed_at(file, began_at):
            return True
        return item is not None and self._trust.is_trusted(place, item)

    def note_imports(self, place: str, imports: Mapping[str, str]) -> None:
        """Record the files that a folder's context files import: real path to importer name."""
        with self._lock:
            self._imports.setdefault(os.path.realpath(place), {}).update(imports)

    def imports(self, place: str) -> Mapping[str, str]:
        """Return the known imports in a folder: each file's real path with the name of the importer."""
        with self._lock:
            return dict(self._imports.get(os.path.realpath(place), {}))


def _overlap(one: str, other: str) -> bool:
    return os.path.commonpath((one, other)) in (one, other)
