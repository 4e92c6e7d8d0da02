"""The daily usage of each user, stored in the hub's folder, which the reporting processes cannot access.

Days are in UTC. Functions block.
"""

import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.quota_ports import Allowance, Measure, Period
from hermes_acp.storage.private_files import private_folder
from hermes_acp.users.accounts import Quota

FILE: Final = "usage.db"
LOCK_TIMEOUT_S: Final = 10.0
SCHEMA: Final = """CREATE TABLE IF NOT EXISTS usage (
    user TEXT NOT NULL, day TEXT NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL, runs INTEGER NOT NULL,
    PRIMARY KEY (user, day)
) STRICT"""


class Used(Struct, frozen=True):
    """The usage in a period."""

    tokens: int = 0
    usd: float = 0.0
    runs: int = 0


class UsageLedger:
    """The usage of all users of a hub."""

    def __init__(self, folder: Path) -> None:
        """Initialise without opening anything."""
        self._path = folder / FILE
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def spend(self, user: str, used: Used, now: float) -> None:
        """Add to a user's usage today, durably on return. Raises StorageError."""
        self._run(
            """INSERT INTO usage VALUES (?, ?, ?, ?, ?) ON CONFLICT (user, day) DO UPDATE SET
               tokens = tokens + excluded.tokens, usd = usd + excluded.usd, runs = runs + excluded.runs""",
            (user, _day(now), used.tokens, used.usd, used.runs),
        )

    def used(self, user: str, period: Period, now: float) -> Used:
        """Return a user's usage in the current day or month. Raises StorageError."""
        days = _day(now) if period == "day" else f"{_day(now)[:7]}-%"
        ((tokens, usd, runs),) = self._run(
            "SELECT coalesce(sum(tokens), 0), coalesce(sum(usd), 0), coalesce(sum(runs), 0) "
            "FROM usage WHERE user = ? AND day LIKE ?",
            (user, days),
        )
        return Used(tokens, usd, runs)

    def allowances(self, user: str, quota: Quota, now: float) -> tuple[Allowance, ...]:
        """Return the limits of a user, each with its usage. Raises StorageError."""
        found: list[Allowance] = []
        periods: tuple[Period, Period] = ("day", "month")
        measures: tuple[Measure, ...] = ("tokens", "usd", "runs")
        for period in periods:
            limits: dict[Measure, float | None] = {
                measure: getattr(quota, f"{measure}_per_{period}") for measure in measures
            }
            if not any(limit is not None for limit in limits.values()):
                continue
            used = self.used(user, period, now)
            found += [
                Allowance(
                    measure, period, float(limit), float(getattr(used, measure)), resets_at(period, now)
                )
                for measure, limit in limits.items()
                if limit is not None
            ]
        return tuple(found)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None

    def _run(self, statement: str, values: tuple[str | int | float, ...]) -> list[tuple[int, float, int]]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise StorageError(
                    f"{self._path} cannot be used: {error}.", hint="Check the disk."
                ) from error

    def _open(self) -> sqlite3.Connection:
        private_folder(self._path.parent)
        connection = sqlite3.connect(
            self._path, timeout=LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        self._path.chmod(0o600)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(SCHEMA)
        return connection


def resets_at(period: Period, now: float) -> float:
    """Return when the current day or month ends, in seconds since the epoch."""
    start = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return (start + timedelta(days=1)).timestamp()
    return (start.replace(day=28) + timedelta(days=4)).replace(day=1).timestamp()


def _day(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")
