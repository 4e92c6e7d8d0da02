"""Delete checkpoints beyond the limits on turns, days and bytes, then the objects that only they used.

This blocks while git packs. Nothing waits for it, since a snapshot needs only the lock on its index, which is
never held here. Objects written or used within the last hours stay, referenced or not: another process may be
taking a snapshot (git-repack's `--unpack-unreachable`, git-prune's `--expire`).
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Final

from msgspec import Struct

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointRecord
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore
from hermes_acp.storage.checkpoints.gc_refs import USED, GcRefs, exclude_object_writers
from hermes_acp.storage.checkpoints.objects.borrowed_objects import BorrowedObjects, remove_borrowed
from hermes_acp.storage.checkpoints.objects.index_seed import UNFINISHED
from hermes_acp.storage.checkpoints.objects.unfinished_packs import packing
from hermes_acp.storage.checkpoints.shadow_git import BORROWED, ShadowGit, find_git

DAY_S: Final = 86_400.0
UNREACHABLE_EXPIRY: Final = "3.hours.ago"
MAX_LOOSE_OBJECTS: Final = 24
"""Pack once a sampled one of the 256 object folders has this many loose objects."""
MAX_ROUNDS: Final = 4
STAMP: Final = "swept"
SWEEP_INTERVAL_S: Final = 3_600.0


class RetentionPolicy(Struct, frozen=True):
    """The retention limits of a folder: turns, days and bytes."""

    keep_turns: int
    keep_days: float
    largest_store_bytes: int


def is_due(store: CheckpointStore, now: float) -> bool:
    """Return whether the last collection, by any process, was long enough ago."""
    with suppress(OSError):
        return abs(now - (store.setup.shadows_folder / STAMP).stat().st_mtime) > SWEEP_INTERVAL_S
    return True


def collect_garbage(store: CheckpointStore, terms: RetentionPolicy, now: float) -> None:
    """Delete old checkpoints and their objects, and the older half of the rest if the limit is still exceeded."""
    notes = {note.id: note for note in store.checkpoint_index.all()}
    for note in _expired(store, list(notes.values()), terms, now):
        store.forget(notes.pop(note.id))
    for place in _shadows(store):
        _tidy(store, place, terms, now, notes)
        if store.stop.is_set():
            return
    with suppress(OSError):  # if this fails, the next process collects again
        (store.setup.shadows_folder / STAMP).touch(mode=0o600)
        os.utime(store.setup.shadows_folder / STAMP, (now, now))


def _expired(
    store: CheckpointStore, notes: list[CheckpointRecord], terms: RetentionPolicy, now: float
) -> list[CheckpointRecord]:
    """Return the records that exceed their folder's limit, are too old, or belong to a deleted session."""
    sessions = store.setup.home / "sessions"
    lost = {each for each in {note.session_id for note in notes} if not (sessions / f"{each}.jsonl").exists()}
    of_root: dict[str, list[str]] = {}
    for note in notes:
        for root in {place.root for place in note.places}:
            of_root.setdefault(root, []).append(note.id)
    surplus = {each for ids in of_root.values() for each in ids[: max(0, len(ids) - terms.keep_turns)]}
    oldest = now - terms.keep_days * DAY_S
    return [
        note for note in notes if note.id in surplus or note.session_id in lost or note.created_at < oldest
    ]


def _shadows(store: CheckpointStore) -> Iterator[Path]:
    shadows_folder = store.setup.shadows_folder
    for place in sorted(shadows_folder.iterdir()) if shadows_folder.is_dir() else ():
        if (place / "HEAD").is_file():
            yield place


def _tidy(
    store: CheckpointStore,
    place: Path,
    terms: RetentionPolicy,
    now: float,
    notes: dict[str, CheckpointRecord],
) -> None:
    """Collect garbage in one shadow and remove deleted records from `notes`. If `stop` is set, change nothing."""
    for _ in range(MAX_ROUNDS):
        held = [note for note in notes.values() if any(each.shadow == place.name for each in note.places)]
        _protect_records(place, held)
        GcRefs(place).remove_stray_refs({note.id for note in held}, DAY_S)
        is_too_much = size_bytes(place, store.stop) > terms.largest_store_bytes
        if store.stop.is_set():
            return
        if not held and not is_too_much:
            _remove_unused(place, now)
            return
        _copy_borrowed(store, place, held)
        if is_too_much or _needs_packing(place):
            _pack(store, place, "now" if is_too_much else UNREACHABLE_EXPIRY)
        if not is_too_much or not held or size_bytes(place, store.stop) <= terms.largest_store_bytes:
            return
        if store.stop.is_set():
            return
        for note in held[: (len(held) + 1) // 2]:
            store.forget(notes.pop(note.id))


def _protect_records(place: Path, held: list[CheckpointRecord]) -> None:
    for note in held:
        for each in note.places:
            if each.shadow == place.name:
                GcRefs(place).protect_also(note.id, "before", each.before)
                GcRefs(place).protect_also(note.id, "after", each.after)


def _copy_borrowed(store: CheckpointStore, place: Path, held: list[CheckpointRecord]) -> None:
    roots = {each.root for note in held for each in note.places if each.shadow == place.name}
    if (place / BORROWED).is_dir():
        with suppress(CheckpointError):  # if this fails, the process of the next snapshot tries again
            store.copy_borrowed(tuple(root for root in roots if store.shadow(root).place == place))


def _remove_unused(place: Path, now: float) -> None:
    """Empty a shadow that stores no checkpoints and has not been used for a day. Its next use fills it again."""
    with suppress(OSError), open(place / "lock", "ab") as lock, exclude_object_writers(place):
        fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        used = [path.stat().st_mtime for name in ("index", USED) if (path := place / name).is_file()]
        if now - max(used) < DAY_S:
            return
        for name in ("index", "modes", UNFINISHED):
            (place / name).unlink(missing_ok=True)
        remove_borrowed(place)
        for part in sorted((place / "objects").iterdir()):
            if part.name != "info":
                shutil.rmtree(part, ignore_errors=True)
        (place / "objects" / "pack").mkdir(mode=0o700)


def _needs_packing(place: Path) -> bool:
    loose = place / "objects" / "17"
    return loose.is_dir() and len(os.listdir(loose)) > MAX_LOOSE_OBJECTS


def _pack(store: CheckpointStore, place: Path, expire: str) -> None:
    git = ShadowGit(find_git(store.setup.variables, ()), place, str(place), str(place))
    git.stop = store.stop
    if BorrowedObjects(git).exist:  # borrowed objects are copied first
        return
    with suppress(CheckpointError, OSError), packing(place) as lock:  # what cannot be packed stays loose
        git.lock = (lock,)
        git.run("-c", "pack.threads=1", "repack", "-A", "-d", "-l", "-q", f"--unpack-unreachable={expire}")
        with suppress(OSError), exclude_object_writers(place):
            git.run("prune", f"--expire={expire}")


def size_bytes(place: Path, stop: Event) -> int:
    """Return the size of a folder on disk, or of the part read before `stop` was set."""
    total = 0
    for folder, folders, files in os.walk(place):
        if stop.is_set():
            break
        if BORROWED in folders:  # the user's own files
            folders.remove(BORROWED)
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total
