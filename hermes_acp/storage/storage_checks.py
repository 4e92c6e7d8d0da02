"""Check a home folder without changing anything: permissions, records, both indexes, quarantined files."""

import fcntl
import os
import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from hermes_acp.core.events import SessionOpened
from hermes_acp.storage.record_lines import count_readable, decode_lines
from hermes_acp.storage.search.search_tables import MIGRATIONS as SEARCH_MIGRATIONS
from hermes_acp.storage.session_rows import SessionRow, row_of
from hermes_acp.storage.session_store import MIGRATIONS as LIST_MIGRATIONS

if TYPE_CHECKING:
    import sqlite3

REBUILD_HINT: Final = "Run `hermes-acp doctor --rebuild`."
ROLLBACK_NEEDED: Final = "SQLITE_READONLY_ROLLBACK"
MAX_NAMED: Final = 5
MAX_RECORDS_NAMED: Final = 20
"""Maximum number of faulty records reported individually."""


class CheckResult(Struct, frozen=True):
    """The result of a check: `fine`, a `note` for the user, or a `problem` that needs action."""

    level: Literal["fine", "note", "problem"]
    text: str
    hint: str = ""


def run_checks(home: Path) -> Iterator[CheckResult]:
    """Run all checks and return the results in reading order. Blocks while it reads every record."""
    if not home.is_dir():
        exists = os.path.lexists(home)
        text = f"{home} is not a folder." if exists else f"{home} does not exist yet: nothing is stored."
        yield CheckResult(
            "problem" if exists else "fine", text, "Set HERMES_HOME to a folder." if exists else ""
        )
        return
    yield from _rights(home)
    paths = sorted((home / "sessions").glob("*.jsonl"))
    yield from _records([*paths, *sorted((home / "sessions").glob("*/*.jsonl"))])
    rows = {row.id: row for path in paths if (row := row_of(path))}
    yield from _list(home / "index.db", rows)
    yield from _words(home / "search.db", [path for path in paths if path.is_file()])
    yield from _runs(home / "runs.db")
    yield from _set_aside(home)


def _rights(home: Path) -> Iterator[CheckResult]:
    if os.access(home, os.W_OK | os.X_OK):
        yield CheckResult("fine", f"{home} is writable.")
    else:
        yield CheckResult(
            "problem",
            f"{home} is not writable: sessions can be read but not continued.",
            "Make it writable for you, or set HERMES_HOME to another folder.",
        )
    private = [home, home / "sessions", home / ".env"]
    private += [home / name for name in ("index.db", "search.db", "vectors.db")]
    private += sorted((home / "sessions").glob("*.jsonl"))
    try:
        open_to_others = [path for path in private if path.exists() and path.stat().st_mode & 0o077]
    except OSError as error:
        yield CheckResult("problem", f"{home} cannot be read: {error.strerror}.")
        return
    if open_to_others:
        yield CheckResult(
            "note",
            f"Other users may read {_names(open_to_others)}.",
            f"Remove their access: `chmod -R go= {shlex.quote(str(home))}`.",
        )
    else:
        yield CheckResult("fine", "Only you can read the stored files.")


def _names(paths: list[Path]) -> str:
    more = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
    return ", ".join(str(path) for path in paths[:MAX_NAMED]) + more


def _records(paths: list[Path]) -> Iterator[CheckResult]:
    found = [finding for path in paths if (finding := _record(path))]
    found.sort(key=lambda finding: finding.level != "problem")
    yield from found[:MAX_RECORDS_NAMED]
    if unnamed := found[MAX_RECORDS_NAMED:]:
        yield CheckResult(unnamed[0].level, f"{len(unnamed):,} more records have similar problems.")
    if paths:
        yield CheckResult(
            "fine", f"{len(paths) - len(found):,} of {len(paths):,} session records are intact."
        )
    else:
        yield CheckResult("fine", "No session is stored yet.")


def _record(path: Path) -> CheckResult | None:
    """Return what is wrong with a record. A tail that another process is writing is not an error."""
    try:
        if not path.is_file():  # reading a pipe would wait for a writer
            return CheckResult("problem", f"{path} is not a file.", "It contains no session; remove it.")
        with path.open("rb") as stream:
            is_free = _is_free(stream.fileno())
            content = stream.read()
    except OSError as error:
        return CheckResult(
            "problem", f"{path} cannot be read: {error.strerror}.", "Check its permissions and the disk."
        )
    events = list(decode_lines(content))
    for opened in (event for event, _ in events if isinstance(event, SessionOpened)):
        if opened.session_id != path.stem:
            named = f"{path} is the record of {opened.session_id}."
            return CheckResult("problem", named, "Rename the file to the ID of its session.")
    end = events[-1][1] if events else 0
    rest = content[end:]
    if not rest:
        return (
            None if end else CheckResult("problem", f"{path} is empty.", "It contains no session; remove it.")
        )
    behind = count_readable(rest)
    if not end or behind:
        return CheckResult(
            "problem",
            f"{path} is damaged at byte {end:,}; {behind:,} readable events follow.",
            "Opening the session shows the part before that; the part after it is then moved to a separate file.",
        )
    if not is_free:
        return None
    return CheckResult(
        "note",
        f"{path} ends in {len(rest):,} torn bytes.",
        "They are moved to a separate file when the session is opened.",
    )


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _open(path: Path) -> "sqlite3.Connection":
    import sqlite3

    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.execute("PRAGMA query_only = 1")
    return connection


def _absent(path: Path, why: str) -> CheckResult:
    """Report an index that does not exist yet or cannot be created because its path is taken."""
    if os.path.lexists(path):
        return CheckResult("problem", f"{path} is not a file.", "It contains no session; remove it.")
    return CheckResult("fine", why)


def _list(path: Path, rows: dict[str, SessionRow]) -> Iterator[CheckResult]:
    import sqlite3

    if not path.is_file():
        yield _absent(path, "There is no list of sessions yet; it is created at its first use.")
        return
    try:
        with closing(_open(path)) as connection:
            if not _version(connection):
                yield CheckResult("fine", f"{path} is incomplete; it is completed at its next use.")
                return
            yield from _soundness(path, connection, len(LIST_MIGRATIONS))
            listed = connection.execute("SELECT id, title FROM sessions").fetchall()
    except sqlite3.DatabaseError as error:
        yield _unreadable(path, error)
        return
    titles = dict(listed)
    missing = len(rows.keys() - titles.keys())
    gone = len(titles.keys() - rows.keys())
    differing = sum(1 for id_, row in rows.items() if titles.get(id_, row.title) != row.title)
    if missing or gone or differing:
        yield CheckResult(
            "problem" if gone or differing else "note",
            f"The session list lacks {missing:,}, lists {gone:,} deleted sessions and {differing:,} with an old title.",
            REBUILD_HINT,
        )
    else:
        yield CheckResult("fine", f"The list of sessions agrees with all {len(rows):,} records.")


def _words(path: Path, paths: list[Path]) -> Iterator[CheckResult]:
    import sqlite3

    if not path.is_file():
        yield _absent(path, "There is no search index yet; it is created at its first use.")
        return
    try:
        with closing(_open(path)) as connection:
            if not _version(connection):
                yield CheckResult("fine", f"{path} is incomplete; it is completed at its next use.")
                return
            yield from _soundness(path, connection, len(SEARCH_MIGRATIONS))
            seen: dict[str, int] = dict(connection.execute("SELECT id, seen_bytes FROM records").fetchall())
            (passages,) = connection.execute("SELECT count(*) FROM passages").fetchone()
            (indexed,) = connection.execute("SELECT count(*) FROM words_docsize").fetchone()
    except sqlite3.DatabaseError as error:
        yield _unreadable(path, error)
        return
    if passages != indexed:
        yield CheckResult(
            "problem",
            f"{path} contains {passages:,} passages, of which {indexed:,} are indexed.",
            REBUILD_HINT,
        )
    behind = sum(1 for one in paths if seen.get(one.stem) != one.stat().st_size)
    if behind:
        yield CheckResult("note", f"{behind:,} records have new text, which the next search indexes first.")
    else:
        yield CheckResult("fine", f"The search index holds all {passages:,} passages.")


def _runs(path: Path) -> Iterator[CheckResult]:
    """Report a damaged runs database, which nothing else in a home folder can restore."""
    import sqlite3

    if not path.is_file():
        return
    try:
        with closing(_open(path)) as connection:
            (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "") == ROLLBACK_NEEDED:
            return
        state = str(error)
    if state != "ok":
        moving = shlex.join(("mv", str(path), f"{path}.damaged"))
        hint = f"Move it away: {moving}. Its runs are lost, but sessions are not."
        yield CheckResult("problem", f"{path}, which holds runs and schedules, is damaged: {state}.", hint)


def _unreadable(path: Path, error: "sqlite3.DatabaseError") -> CheckResult:
    """Explain why an index cannot be read. Rolling back a killed process's transaction is left to the next writer."""
    if getattr(error, "sqlite_errorname", "") == ROLLBACK_NEEDED:
        return CheckResult("fine", f"{path} has an unfinished write; its next use rolls that back.")
    return CheckResult("problem", f"{path} is damaged or cannot be read: {error}.", REBUILD_HINT)


def _version(connection: "sqlite3.Connection") -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version


def _soundness(path: Path, connection: "sqlite3.Connection", newest: int) -> Iterator[CheckResult]:
    if _version(connection) > newest:
        yield CheckResult(
            "problem", f"{path} was written by a newer hermes-acp.", "Update hermes-acp: `hermes-acp update`."
        )
    elif _version(connection) < newest:
        yield CheckResult(
            "note", f"{path} was written by an older hermes-acp.", "Its next use brings it up to date."
        )
    faults = [row[0] for row in connection.execute("PRAGMA quick_check(3)")]
    if faults != ["ok"]:
        yield CheckResult("problem", f"{path} is damaged: {'; '.join(faults)}.", REBUILD_HINT)


def _set_aside(home: Path) -> Iterator[CheckResult]:
    kept = sorted((*home.glob("*.db.damaged-*"), *(home / "sessions").glob("*.torn")))
    if kept:
        size_bytes = sum(path.stat().st_size for path in kept)
        yield CheckResult(
            "note",
            f"{len(kept):,} files with {size_bytes:,} bytes were set aside earlier: {_names(kept)}.",
            "Delete them if nothing is missing.",
        )
