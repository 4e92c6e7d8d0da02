"""The prompts for a profile's runs in Postgres, for workers on any machine."""

from collections.abc import Collection, Sequence

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.prompt_store import named_prompt
from hermes_acp.runs.tables.table_connection import TableConnection, TableDatabase


class PostgresPrompts:
    """The prompts in one schema; implements `Prompts`."""

    def __init__(self, database: TableDatabase, clock: Clock) -> None:
        """Store the arguments; nothing is opened until first use."""
        self._database = database
        self._clock = clock

    async def put(self, text: str, sources: Sequence[str] = ()) -> str:
        """Store a prompt with secrets masked, and return its name. Raises StorageError."""
        name, clean, listed = named_prompt(text, sources)
        now = self._clock.now()
        await self._database.write(
            lambda connection: connection.execute(
                """INSERT INTO prompts (name, text, sources, stored_at) VALUES (?, ?, ?, ?)
                   ON CONFLICT (name) DO UPDATE SET stored_at = excluded.stored_at""",
                (name, clean, listed, now),
            )
        )
        return name

    async def get(self, name: str) -> str:
        """Return a prompt. Raises StorageError."""
        return (await self._row(name))[0]

    async def sources(self, name: str) -> tuple[str, ...]:
        """Return where the parts of a prompt not written by the user come from. Raises StorageError."""
        return tuple((await self._row(name))[1].splitlines())

    async def prune(self, named: Collection[str], before: float) -> None:
        """Remove prompts that are not in `named` and were last stored before a time."""

        def remove(connection: TableConnection) -> None:
            old = connection.execute("SELECT name FROM prompts WHERE stored_at < ?", (before,)).fetchall()
            for (name,) in old:
                if name not in named:
                    connection.execute("DELETE FROM prompts WHERE name = ?", (name,))

        await self._database.write(remove)

    async def _row(self, name: str) -> tuple[str, str]:
        row = await self._database.read(
            lambda connection: connection.execute(
                "SELECT text, sources FROM prompts WHERE name = ?", (name,)
            ).fetchone()
        )
        if row is None:
            raise StorageError(f"The run's prompt {name} is not in the fleet's database.")
        return row
