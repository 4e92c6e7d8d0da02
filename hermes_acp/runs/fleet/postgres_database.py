"""A profile's tables in Postgres: durable transactions on one connection, used by one worker thread at a time."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, LiteralString, TypeVar, cast

import psycopg
from anyio import CapacityLimiter, to_thread
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from hermes_acp.core.errors import StorageError
from hermes_acp.runs.tables.table_connection import Parameters, TableConnection

T = TypeVar("T")
NAMED: Final = re.compile(r"(?<![:\w]):([a-z]\w*)")
CONNECT_TIMEOUT_S: Final = 5
STATEMENT_TIMEOUT_MS: Final = 30_000
IDLE_TIMEOUT_MS: Final = 5_000
"""How long a process that is frozen in a transaction blocks the other writers; shorter than a lease."""
KEEPALIVE_S: Final = 5
ADDRESS_HINT: Final = "Use postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for an @ in the password."
TCP_TIMEOUT_MS: Final = 15_000
"""How long it takes to detect a server that has vanished, whatever TCP's default timeout is."""


class PostgresDatabase:
    """One schema; implements `TableDatabase`. A lost connection is reopened for the next transaction."""

    def __init__(
        self, uri: str, schema: str, migrations: Sequence[str], *, writes_alone: bool = True
    ) -> None:
        """Store the arguments; nothing is opened yet.

        A migration is one or more statements; unqualified names refer to the schema. If `writes_alone` is False, other
        transactions may write concurrently, so the statements themselves must lock what they change.
        """
        self.uri = uri
        self.schema = schema
        self._migrations = migrations
        self._writes_alone = writes_alone
        self._connection: psycopg.Connection[Any] | None = None
        self._limiter: CapacityLimiter | None = None
        self._is_migrated = False

    async def write(self, work: Callable[[TableConnection], T]) -> T:
        """Run `work` in an exclusive write transaction that is durable on return.

        Raises StorageError, after which the transaction may or may not have been committed.
        """
        return await self._in_thread(work, is_writing=True)

    async def read(self, work: Callable[[TableConnection], T]) -> T:
        """Run the read-only `work` on a snapshot. Raises StorageError."""
        return await self._in_thread(work, is_writing=False)

    async def aclose(self) -> None:
        """Close the connection after pending work has finished."""
        if self._connection:
            await to_thread.run_sync(self._close, limiter=self._limiter)

    async def _in_thread(self, work: Callable[[TableConnection], T], *, is_writing: bool) -> T:
        if self._limiter is None:
            self._limiter = CapacityLimiter(1)
        return await to_thread.run_sync(self._transact, work, is_writing, limiter=self._limiter)

    def _transact(self, work: Callable[[TableConnection], T], is_writing: bool) -> T:
        """Run a transaction. A read is repeated if the connection was lost while it was idle."""
        was_open = self._connection is not None
        try:
            return self._run(work, is_writing)
        except psycopg.Error as error:
            is_lost = self._connection is not None and self._connection.broken
            if is_writing or not was_open or not is_lost:
                raise self.error(error) from error
        self._close()
        return self._transact(work, is_writing)

    def _run(self, work: Callable[[TableConnection], T], is_writing: bool) -> T:
        connection = self._open()
        with connection.transaction():
            if is_writing and self._writes_alone:
                connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (self.schema,))
            elif not is_writing:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return work(PostgresConnection(connection))

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is not None and (self._connection.closed or self._connection.broken):
            self._close()
        if self._connection is None:
            connection = connect(self.uri, self.schema)
            try:
                if not self._is_migrated:
                    self._migrate(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._is_migrated = True
        return self._connection

    def _migrate(self, connection: psycopg.Connection[Any]) -> None:
        """Migrate the schema; several processes may attempt this at once. Raises StorageError."""
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (self.schema,))
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self.schema)))
            connection.execute("CREATE TABLE IF NOT EXISTS format (version INTEGER NOT NULL)")
            row = connection.execute("SELECT version FROM format").fetchone()
            version: int = row[0] if row else 0
            if version > len(self._migrations):
                raise StorageError(
                    f"The schema {self.schema} was written by a newer hermes-acp (format {version}).",
                    hint="Update hermes-acp on this machine.",
                )
            if version == len(self._migrations):
                return
            for migration in self._migrations[version:]:
                connection.execute(_trusted(migration))
            connection.execute("DELETE FROM format")
            connection.execute("INSERT INTO format VALUES (%s)", (len(self._migrations),))

    def _close(self) -> None:
        if self._connection:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def error(self, error: psycopg.Error) -> StorageError:
        """Return an error for people, without the password in the URI."""
        named = _parts_of(self.uri)
        if not named:
            return StorageError(
                "The fleet's database cannot be used: its address is not valid.", hint=ADDRESS_HINT
            )
        reason = " ".join(str(error).split())
        if password := named.get("password"):
            reason = reason.replace(password, "***")
        return StorageError(
            f"The fleet's database {place_of(self.uri)} cannot be used: {reason}.",
            hint="Check that it is running, that this machine can reach it, and the user's permissions.",
        )


class PostgresConnection:
    """Executes statements written in portable SQL; implements `TableConnection`."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Store the connection."""
        self._connection = connection

    def execute(self, statement: str, parameters: Parameters = (), /) -> psycopg.Cursor[Any]:
        """Execute a statement in the open transaction."""
        if isinstance(parameters, Sequence):
            written = _with_positions(statement)
            return self._connection.execute(written, [_storable(each) for each in parameters])
        named = {name: _storable(value) for name, value in parameters.items()}
        return self._connection.execute(_with_names(statement), named)


def connect(uri: str, schema: str) -> psycopg.Connection[Any]:
    """Open a connection that uses the tables in a schema. Blocks. Raises psycopg.Error."""
    options = (
        f"-c search_path={schema} -c statement_timeout={STATEMENT_TIMEOUT_MS} "
        f"-c idle_in_transaction_session_timeout={IDLE_TIMEOUT_MS}"
    )
    return psycopg.connect(
        uri,
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT_S,
        application_name="hermes-acp",
        options=options,
        keepalives_idle=KEEPALIVE_S,
        keepalives_interval=KEEPALIVE_S,
        keepalives_count=2,
        tcp_user_timeout=TCP_TIMEOUT_MS,
    )


def place_of(uri: str) -> str:
    """Return the location of a database, without user and password."""
    named = _parts_of(uri)
    return (
        f"{named.get('dbname') or 'postgres'} at {named.get('host') or 'localhost'}"
        if named
        else "of this profile"
    )


def _parts_of(uri: str) -> dict[str, str]:
    """Return the parts of a connection URI; empty if it is not valid, for example because of an unescaped @."""
    try:
        named = {name: str(value) for name, value in conninfo_to_dict(uri).items()}
    except psycopg.ProgrammingError:
        return {}
    return {} if "@" in named.get("host", "") else named


def _storable(value: Any) -> Any:
    """Return a value that Postgres accepts, with NUL characters removed from text."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


def _trusted(statement: str) -> LiteralString:
    """Mark a statement as trusted: all statements are literals in this package."""
    return cast("LiteralString", statement)


@lru_cache
def _with_positions(statement: str) -> LiteralString:
    return _trusted(statement.replace("?", "%s"))


@lru_cache
def _with_names(statement: str) -> LiteralString:
    return _trusted(NAMED.sub(r"%(\1)s", statement))
