"""The interfaces of database connections, for executing statements and for stored runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Parameters = Sequence[Any] | Mapping[str, Any]


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the remaining rows."""
        ...


class TableConnection(Protocol):
    """Executes statements, with parameters written as `?` or `:name`."""

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Execute a statement in the open transaction."""
        ...


class TableDatabase(Protocol):
    """Transactions on the tables of runs."""

    async def write(self, work: Callable[[TableConnection], T]) -> T:
        """Run `work` in an exclusive write transaction that is durable on return.

        Raises StorageError, after which the transaction may or may not have been committed.
        """
        ...

    async def read(self, work: Callable[[TableConnection], T]) -> T:
        """Run the read-only `work` on a snapshot. Raises StorageError."""
        ...

    async def aclose(self) -> None:
        """Close the database after pending work has finished."""
        ...
