"""An index of the usage of all sessions, so that totals do not require reading every record.

It is updated before each read: changed records are reread, and deleted ones are dropped, so deleting a session deletes
its usage. Everything can be rebuilt from the records.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

import anyio
from msgspec import Struct, structs

from hermes_acp.storage.record_lines import decode_timed
from hermes_acp.storage.search.database import Database, DatabaseDamaged
from hermes_acp.storage.usage.usage_facts import UsageFacts, usage_facts

if TYPE_CHECKING:
    import sqlite3

UsageKey = Literal["day", "model", "model-day", "workspace", "tool"]
BATCH: Final = 200
MIGRATIONS: Final = (
    """CREATE TABLE records (name TEXT PRIMARY KEY, changed_ns INTEGER NOT NULL, cwd TEXT NOT NULL) STRICT;
    CREATE TABLE models (
        record TEXT NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL,
        failed INTEGER NOT NULL, input INTEGER NOT NULL, cached INTEGER NOT NULL, output INTEGER NOT NULL,
        usd REAL NOT NULL, PRIMARY KEY (record, day, model)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tools (
        record TEXT NOT NULL, day TEXT NOT NULL, tool TEXT NOT NULL, calls INTEGER NOT NULL,
        failed INTEGER NOT NULL, took REAL NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (record, day, tool)
    ) STRICT, WITHOUT ROWID;""",
)
COLUMNS: Final = MappingProxyType(
    {
        "day": "models.day",
        "model": "models.model",
        "model-day": "models.model || ' ' || models.day",
        "workspace": "records.cwd",
    }
)
SESSION: Final = """substr(record, 1,
    CASE instr(record, '/') WHEN 0 THEN length(record) - 6 ELSE instr(record, '/') - 1 END)"""
"""The session of a record: the name of its `.jsonl` file, or of the folder with its child agents."""
MAX_CLOCK_DIFFERENCE_S: Final = 86_400


class UsageTotal(Struct, frozen=True):
    """The total usage of one group. For models, `requests` and tokens are those of the model requests.

    For a tool, they are its calls and the estimated tokens of its results, and `took_s` is the duration of its calls.
    """

    name: str
    requests: int = 0
    failed: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    took_s: float = 0.0


class UsageIndex:
    """The usage of all sessions of a home."""

    def __init__(self, home: Path) -> None:
        """Open nothing yet."""
        self._folder = home / "sessions"
        self._database = Database(home / "usage.db", MIGRATIONS)
        self._refreshing = anyio.Lock()

    async def refresh(self, first_day: str = "", note: Callable[[int, int], None] | None = None) -> None:
        """Reread changed records. `note` is called with the number of records read so far and the total.

        Raises StorageError. Records last written before `first_day` are left for later, because they cannot contain
        anything since then.
        """
        async with self._refreshing:
            try:
                await self._refresh(_start_ns(first_day), note)
            except DatabaseDamaged:
                await self._refresh(_start_ns(first_day), note)

    async def _refresh(self, since_ns: int, note: Callable[[int, int], None] | None) -> None:
        from anyio.to_thread import run_sync

        known = await self._database.read(_known)
        present = await run_sync(lambda: dict(_records(self._folder)))
        changed = [
            name
            for name, changed_ns in present.items()
            if changed_ns >= since_ns and known.get(name) != changed_ns
        ]
        gone = [name for name in known if name not in present]
        if gone:
            await self._database.run(lambda connection: _forget(connection, gone))
        for start in range(0, len(changed), BATCH):
            batch = {name: present[name] for name in changed[start : start + BATCH]}
            found = await run_sync(self._read, batch)
            await self._database.run(partial(_put, found))
            if note:
                note(min(start + BATCH, len(changed)), len(changed))

    def _read(self, batch: Mapping[str, int]) -> list[tuple[str, int, UsageFacts]]:
        return [(name, changed_ns, _facts_of(self._folder / name)) for name, changed_ns in batch.items()]

    async def sums(self, key: UsageKey, first_day: str = "", last_day: str = "9999") -> list[UsageTotal]:
        """Return the totals by the key from the first to the last day, inclusive, sorted by key.

        Raises StorageError.
        """
        if key == "tool":
            statement = """SELECT tool, sum(calls), sum(failed), 0, 0, sum(tokens), 0.0, sum(took) FROM tools
                WHERE day BETWEEN ? AND ? GROUP BY tool ORDER BY tool"""
        else:
            statement = f"""SELECT {COLUMNS[key]}, sum(requests), sum(failed), sum(input), sum(cached),
                sum(output), sum(usd), 0.0 FROM models JOIN records ON records.name = models.record
                WHERE day BETWEEN ? AND ? GROUP BY 1 ORDER BY 1"""
        rows = await self._database.read(
            lambda connection: connection.execute(statement, (first_day, last_day)).fetchall()
        )
        return [UsageTotal(*row) for row in rows]

    async def session_sums(self, first_day: str = "", last_day: str = "9999") -> dict[str, UsageTotal]:
        """Return the totals of sessions by ID, each including its child agents, in a range of days.

        Raises StorageError.
        """
        statement = f"""SELECT {SESSION}, sum(requests), sum(failed), sum(input), sum(cached), sum(output),
            sum(usd), 0.0 FROM models WHERE day BETWEEN ? AND ? GROUP BY 1"""
        rows = await self._database.read(
            lambda connection: connection.execute(statement, (first_day, last_day)).fetchall()
        )
        return {row[0]: UsageTotal(*row) for row in rows}

    def news(self) -> list[str]:
        """Return notices for the user, each only once."""
        return self._database.news()

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def total_of(name: str, sums: list[UsageTotal]) -> UsageTotal:
    """Return the sum of several totals under a new name."""
    fields = [each for each in UsageTotal.__struct_fields__ if each != "name"]
    return UsageTotal(name, **{each: sum(getattr(one, each) for one in sums) for each in fields})


def _records(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the names of all records below a folder, including those of child agents, with their modification times."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry.name, entry.stat().st_mtime_ns
                elif entry.is_dir(follow_symlinks=False):
                    yield from (
                        (f"{entry.name}/{name}", changed_ns)
                        for name, changed_ns in _records(Path(entry.path))
                    )


def _start_ns(day: str) -> int:
    """Return the local start of a day (`YYYY-MM-DD`) in ns, minus a clock tolerance, or 0 without a day."""
    if not day:
        return 0
    return int((datetime.fromisoformat(day).timestamp() - MAX_CLOCK_DIFFERENCE_S) * 1e9)


def _facts_of(path: Path) -> UsageFacts:
    """Return a record's usage up to its first damaged line; the usage is empty if it cannot be read."""
    try:
        return usage_facts(decode_timed(path.read_bytes()))
    except OSError:
        return UsageFacts()


def _known(connection: "sqlite3.Connection") -> dict[str, int]:
    return dict(connection.execute("SELECT name, changed_ns FROM records").fetchall())


def _forget(connection: "sqlite3.Connection", names: list[str]) -> None:
    rows = [(name,) for name in names]
    for table, column in (("records", "name"), ("models", "record"), ("tools", "record")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)


def _put(found: list[tuple[str, int, UsageFacts]], connection: "sqlite3.Connection") -> None:
    _forget(connection, [name for name, _, _ in found])
    for name, changed_ns, facts in found:
        connection.execute("INSERT INTO records VALUES (?, ?, ?)", (name, changed_ns, facts.cwd))
        connection.executemany(
            "INSERT INTO models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(name, *key, *structs.astuple(usage)) for key, usage in facts.models.items()],
        )
        connection.executemany(
            "INSERT INTO tools VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(name, *key, *structs.astuple(usage)) for key, usage in facts.tools.items()],
        )
