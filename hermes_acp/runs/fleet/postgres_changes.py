"""Receive changes to a schema as soon as they are committed, through Postgres notifications."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import psycopg
from anyio.to_thread import run_sync
from psycopg import sql

from hermes_acp.core.errors import StorageError
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase, connect


class PostgresChanges:
    """Waits for changes; implements `Changes`.

    After losing the connection, it polls every `poll_s` until it reconnects.
    """

    def __init__(self, database: PostgresDatabase, poll_s: float, channel: str = "", topic: str = "") -> None:
        """Store the arguments; nothing is opened yet. The default channel is that of runs.

        With a topic, all others are ignored.
        """
        self._database = database
        self._poll_s = poll_s
        self._channel = channel or database.schema
        self._topic = topic
        self._connection: psycopg.Connection[Any] | None = None

    async def open(self) -> None:
        """Start listening. Raises StorageError."""
        try:
            await run_sync(self._connect)
        except psycopg.Error as error:
            raise self._database.error(error) from error

    async def wait(self) -> None:
        """Return once there may have been changes since the last call."""
        if self._connection is None:
            await anyio.sleep(self._poll_s)
            with suppress(StorageError):
                await self.open()
            return
        try:
            descriptor = self._connection.fileno()
            with anyio.move_on_after(self._poll_s):
                while True:
                    await anyio.wait_readable(descriptor)
                    if self._drain(self._connection):
                        break
        except (psycopg.Error, OSError):
            await self.close()

    async def close(self) -> None:
        """Stop listening."""
        if self._connection:
            connection, self._connection = self._connection, None
            with suppress(psycopg.Error):
                await run_sync(connection.close)

    def _connect(self) -> None:
        connection = connect(self._database.uri, self._database.schema)
        try:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _drain(self, connection: psycopg.Connection[Any]) -> bool:
        """Read the pending notifications; return whether any of them is relevant."""
        connection.pgconn.consume_input()
        matters = False
        while notice := connection.pgconn.notifies():
            matters = matters or not self._topic or notice.extra == self._topic.encode()
        return matters


@asynccontextmanager
async def changes_of(
    database: PostgresDatabase, poll_s: float, channel: str = "", topic: str = ""
) -> AsyncGenerator[PostgresChanges]:
    """Receive changes to a schema while the block runs. Raises StorageError."""
    changes = PostgresChanges(database, poll_s, channel, topic)
    try:
        await changes.open()
        yield changes
    finally:
        with anyio.CancelScope(shield=True):
            await changes.close()
