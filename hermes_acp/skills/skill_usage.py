"""Track how skills are used, revert changes that made one fail, and archive failing or stale ones.

Everything here blocks, so call it in a worker thread. A use is a turn in which a skill's text was read, through the
tool or a slash command. A use failed if the turn produced nothing, the user undid it, or the agent reported a failure.
After `MAX_FAILURES` consecutive failures since the agent last changed a skill, that change is reverted. If all versions
of a skill are the agent's, the skill is eventually archived. A manual change restarts the count and is never reverted.
"""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import storage_error, write_whole
from hermes_acp.storage.version_history import (
    ChangeCause,
    Version,
    VersionHistory,
    histories,
    open_history,
    origin_of,
    read_tree,
)

KIND: Final = "skills"
MAX_FAILURES: Final = 2
STALE_AFTER_S: Final = 90 * 86_400.0
FAILED: Final = "its uses failed {count} times in a row"
UNUSED: Final = "not used for {days} days"


class SkillUsage(Struct, frozen=True):
    """The results of a skill. Times are epoch seconds. `in_a_row` counts failures since `version` of its folder."""

    uses: int = 0
    failures: int = 0
    in_a_row: int = 0
    version: int = 0
    last_used_at: float = 0.0
    last_session: str = ""
    has_failed_last: bool = False


class SkillUse(Struct, frozen=True):
    """A skill used in a turn that has not ended."""

    name: str
    folder: str


class SkillUsageTracker:
    """The uses of all skills in a home folder. Uses in running turns are held until their result is known."""

    def __init__(self, home: Path, now: Callable[[], float]) -> None:
        self._home = home
        self._now = now
        self._file = home / "history" / "skill-uses.json"
        self._running: dict[str, dict[str, SkillUse]] = {}
        self._reported: dict[str, set[str]] = {}

    def note(self, session_id: str, name: str, folder: str) -> None:
        """Record that a session's turn uses a skill. Does not block."""
        place = os.path.realpath(folder)
        self._running.setdefault(session_id, {})[place] = SkillUse(name, place)

    def report(self, session_id: str, name: str, folder: str) -> None:
        """Record that a skill did not work in this turn, regardless of the turn's result."""
        self.note(session_id, name, folder)
        self._reported.setdefault(session_id, set()).add(os.path.realpath(folder))

    def has_uses(self, session_id: str) -> bool:
        """Return whether a session's turn has used a skill so far. Does not block."""
        return session_id in self._running

    def settle(self, session_id: str, *, has_failed: bool) -> tuple[str, ...]:
        """Count the uses in a session's finished turn and return notices about any consequences.

        Raises StorageError.
        """
        uses = self._running.pop(session_id, {})
        reported = self._reported.pop(session_id, set())
        return self._count(session_id, {use: has_failed or place in reported for place, use in uses.items()})

    def forget(self, session_id: str) -> None:
        """Discard the uses of a session's turn."""
        self._running.pop(session_id, None)
        self._reported.pop(session_id, None)

    def undone(self, session_id: str) -> tuple[str, ...]:
        """Count a session's last uses as failed, since the user undid them. Raises StorageError."""
        with self._locked_usages() as books:
            told: list[str] = []
            for place, usage in books.items():
                if usage.last_session == session_id and not usage.has_failed_last:
                    failed = structs.replace(usage, failures=usage.failures + 1, has_failed_last=True)
                    failed = self._with_failure(place, failed)
                    books[place], news = self._after_use(SkillUse(Path(place).name, place), failed)
                    told += news
            return tuple(told)

    def usage(self, folder: str) -> SkillUsage:
        """Return a skill's results so far. Raises StorageError."""
        return self._read().get(os.path.realpath(folder), SkillUsage())

    def usages(self) -> Mapping[str, SkillUsage]:
        """Return the results of all skills so far, by folder with links resolved. Raises StorageError."""
        return self._read()

    def history(self, folder: str | Path) -> VersionHistory:
        """Return the version history of a skill's folder."""
        return open_history(self._home, KIND, Path(folder))

    def histories(self) -> tuple[VersionHistory, ...]:
        """Return the version histories of all skills, including deleted ones. Raises StorageError."""
        return histories(self._home, KIND)

    def archive_stale(self) -> tuple[str, ...]:
        """Archive user skills that the agent wrote and that have not been used for a long time; return notices.

        Raises StorageError.
        """
        told: list[str] = []
        usages = self._read()
        for history in self.histories():
            versions = history.versions()
            if history.folder.parent != Path(os.path.realpath(self._home / "skills")):
                continue
            if any(each.cause.who == "user" for each in versions) or _is_changed(history, versions):
                continue
            used_at = usages.get(str(history.folder), SkillUsage()).last_used_at
            if self._now() - max(used_at, versions[-1].cause.at) < STALE_AFTER_S:
                continue
            why = UNUSED.format(days=round(STALE_AFTER_S / 86_400))
            history.restore(0, ChangeCause("program", self._now(), why))
            told.append(_told(history.folder.name, why, "It was archived."))
        return tuple(told)

    def _count(self, session_id: str, uses: dict[SkillUse, bool]) -> tuple[str, ...]:
        if not uses:
            return ()
        told: list[str] = []
        with self._locked_usages() as books:
            for use, has_failed in uses.items():
                before = books.get(use.folder, SkillUsage())
                counted = structs.replace(
                    before,
                    uses=before.uses + 1,
                    failures=before.failures + has_failed,
                    last_used_at=self._now(),
                    last_session=session_id,
                    has_failed_last=has_failed,
                )
                if has_failed:
                    counted = self._with_failure(use.folder, counted)
                else:
                    counted = structs.replace(counted, in_a_row=0)
                books[use.folder], news = self._after_use(use, counted)
                told += news
        return tuple(told)

    def _with_failure(self, folder: str, usage: SkillUsage) -> SkillUsage:
        """Count one more consecutive failure, or the first one since a new version."""
        versions = self.history(folder).versions()
        version = versions[-1].number if versions else 0
        in_a_row = usage.in_a_row + 1 if version == usage.version else 1
        return structs.replace(usage, in_a_row=in_a_row, version=version)

    def _after_use(self, use: SkillUse, usage: SkillUsage) -> tuple[SkillUsage, tuple[str, ...]]:
        """Revert the agent's last change to a skill that failed too often."""
        if usage.in_a_row < MAX_FAILURES:
            return usage, ()
        history = self.history(use.folder)
        versions = history.versions()
        origin = origin_of(versions)
        if origin is None or origin.cause.who != "agent" or versions[-1].cause.who == "user":
            return usage, ()
        try:
            if _is_changed(history, versions):
                return usage, ()
            why = FAILED.format(count=usage.in_a_row)
            history.restore(origin.number - 1, ChangeCause("program", self._now(), why, usage.last_session))
        except BadRequest:
            return usage, ()
        what = (
            f"It was reverted to the state before version {origin.number}."
            if origin.number > 1
            else "It was archived."
        )
        return structs.replace(usage, in_a_row=0), (_told(use.name, why, what),)

    @contextmanager
    def _locked_usages(self) -> Generator[dict[str, SkillUsage]]:
        """Yield all results under a lock and store them afterwards."""
        with file_lock(self._file.with_suffix(".lock")):
            books = self._read()
            yield books
            try:
                write_whole(self._file, msgspec.json.encode(books), mode=0o600)
            except OSError as error:
                raise storage_error("write", self._file, error) from error

    def _read(self) -> dict[str, SkillUsage]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, SkillUsage])
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise storage_error("read", self._file, error) from error
        except msgspec.MsgspecError as error:
            raise StorageError(f"{self._file} cannot be read: {error}.", hint="Move it away.") from error


def _is_changed(history: VersionHistory, versions: tuple[Version, ...]) -> bool:
    """Return whether a folder differs from its newest version, or is already deleted."""
    files = read_tree(history.folder)
    return not files or files != versions[-1].files


def _told(name: str, why: str, what: str) -> str:
    back = f"`hermes-acp skills history {name}` shows its versions, `hermes-acp skills rollback {name}` restores one."
    return f"The skill {name}: {why}. {what} {back}"
