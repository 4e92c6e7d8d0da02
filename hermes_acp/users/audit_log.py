"""The audit log of a hub: who did what, when, from where, and with which outcome.

It is append-only. Each entry contains its own SHA-256 and that of the previous entry, so that changed, removed or
moved entries are detected. A second file stores the end of the log, so that entries missing at the end are detected
too. Anyone who can write both files can rewrite them; comparing the last hash with a copy stored elsewhere reveals
that. Entries contain no contents and no secrets. Functions block.
"""

import errno
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from hermes_acp.storage.disk_sync import sync_file
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import private_folder, storage_error, write_private_text

FILE: Final = "audit.jsonl"
HEAD: Final = "audit.head"
LOCK: Final = "audit.lock"
FIRST: Final = "0" * 64
MAX_TEXT: Final = 300
TAIL_BYTES: Final = 1 << 16


class AuditEntry(Struct, frozen=True, omit_defaults=True, rename={"source": "from"}):
    """One entry. `who` is a user's name, or empty if unknown; `source` is an address or `command line`.

    `via` names the credential (a token's ID or a web session), `about` the session, token or user concerned.
    """

    at: str
    what: str
    outcome: str
    who: str = ""
    source: str = ""
    via: str = ""
    about: str = ""


class _Line(AuditEntry, frozen=True, omit_defaults=True):
    n: int = 0
    prev: str = FIRST
    hash: str = ""


class Verdict(Struct, frozen=True):
    """The result of a check: the number of intact entries, the last one's hash, and any problem after it."""

    entries: int
    head: str
    problem: str = ""


def entry(what: str, outcome: str, **facts: str) -> AuditEntry:
    """Return an entry with the current time.

    The facts are `who`, `source`, `via` and `about`; they are truncated to a bounded length.
    """
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return AuditEntry(at, what, outcome, **{name: text[:MAX_TEXT] for name, text in facts.items()})


class AuditLog:
    """The audit log in a hub's folder; several processes may append to it."""

    def __init__(self, folder: Path) -> None:
        """Initialise without opening anything."""
        self._folder = folder
        self.path = folder / FILE
        self._head = folder / HEAD

    def append(self, new: AuditEntry) -> None:
        """Add an entry, which is on disk on return. Raises StorageError."""
        private_folder(self._folder)
        with file_lock(self._folder / LOCK):
            try:
                last = self._repaired_end()
                line = _Line(
                    **structs.asdict(new), n=last.n + 1 if last else 1, prev=_hash_of(last) if last else FIRST
                )
                line = structs.replace(line, hash=_digest(line))
                self._write(msgspec.json.encode(line) + b"\n")
            except OSError as error:
                raise storage_error("write", self.path, error) from error
            write_private_text(self._head, f"{line.hash}\n")

    def entries(self) -> Iterator[AuditEntry]:
        """Yield all entries that can be read, in order. Raises StorageError."""
        for content in self._lines():
            try:
                line = msgspec.json.decode(content, type=_Line)
            except msgspec.MsgspecError:
                continue
            yield AuditEntry(**{name: getattr(line, name) for name in AuditEntry.__struct_fields__})

    def verify(self, noted: str = "") -> Verdict:
        """Check the chain; with `noted`, also that it contains the entry with this hash. Raises StorageError."""
        with file_lock(self._folder / LOCK):
            return self._verify(noted)

    def _verify(self, noted: str) -> Verdict:
        end, hashes = self._noted_end(), {FIRST}
        count, before = 0, FIRST
        for content in self._lines():
            try:
                line = msgspec.json.decode(content, type=_Line)
            except msgspec.MsgspecError:
                return Verdict(count, before, f"entry {count + 1} cannot be read")
            if line.n != count + 1 or line.prev != before:
                return Verdict(count, before, f"entry {count + 1} does not follow the one before it")
            if line.hash != _digest(line):
                return Verdict(count, before, f"entry {count + 1} was changed")
            count, before = line.n, line.hash
            if before in (noted, end):
                hashes.add(before)
        if count and not end:
            return Verdict(count, before, f"{HEAD} is missing, so entries at the end may be missing too")
        if end and end not in hashes:
            return Verdict(count, before, "entries are missing at the end")
        if noted and noted not in hashes:
            return Verdict(count, before, "no entry has the hash that you noted")
        return Verdict(count, before)

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                yield from file
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error("read", self.path, error) from error

    def _noted_end(self) -> str:
        """Return the stored hash of the log's end, which a killed process may not have updated."""
        try:
            return self._head.read_text(encoding="ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def _repaired_end(self) -> _Line | None:
        """Return the last entry, after removing one that a killed process wrote only partially."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            start = file.seek(max(0, size - TAIL_BYTES))
            tail = file.read()
            whole = tail.rfind(b"\n") + 1
            if whole < len(tail):
                file.truncate(start + whole)
            last = tail[:whole].rstrip(b"\n").rpartition(b"\n")[2]
        try:
            return msgspec.json.decode(last, type=_Line) if last else None
        except msgspec.MsgspecError:
            return _Line("", "", "", hash=sha256(last).hexdigest())  # `verify` reports it

    def _write(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.path, flags, 0o600)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            if os.write(descriptor, line) < len(line):
                os.ftruncate(descriptor, end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync_file(descriptor)
        finally:
            os.close(descriptor)


def _hash_of(line: _Line) -> str:
    return line.hash or _digest(line)


def _digest(line: _Line) -> str:
    """Return the hash of an entry, computed from all its other fields, including the hash of the previous entry."""
    return sha256(msgspec.json.encode(structs.replace(line, hash=""), order="sorted")).hexdigest()
