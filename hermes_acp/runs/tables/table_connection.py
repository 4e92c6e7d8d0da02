"""What statements need of a connection, and what stored runs need of a database."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Parameters = Sequence[Any] | Mapping[str, Any]


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows that are left."""
        ...


class TableConnection(Protocol):
    """Carries out statements, whose parameters are written as `?` or `:name`."""

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Carry out a statement within the transaction that is open."""
        ...


class TableDatabase(Protocol):
    """Transactions on the tables of runs."""

    async def write(self, work: Callable[[TableConnection], T]) -> T:
        """Run `work` in a write transaction that is durable when this returns; no other one runs meanwhile.

        Raises StorageError. After an error it is not known whether the transaction was committed.
        """
        ...

    async def read(self, work: Callable[[TableConnection], T]) -> T:
        """Run the read-only `work` on a snapshot. Raises StorageError."""
        ...

    async def aclose(self) -> None:
        """Close the database after pending work."""
        ...
