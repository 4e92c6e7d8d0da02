"""A question that several clients are asked at once; the first decision counts."""

from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

import anyio
import anyio.abc

from hermes_acp.core.ports.gate_ports import Gate

T = TypeVar("T")


class AskedGate(Gate, Protocol):
    """A gate whose client may leave before answering."""

    @property
    def is_connected(self) -> bool:
        """Whether the client can still answer."""
        ...


class OpenQuestion(Generic[T]):
    """A question that waits for an answer.

    If a client cannot answer, or its user dismisses the question, the others decide. If that is true of every client
    that was asked, the last such answer counts.
    """

    def __init__(
        self,
        tasks: anyio.abc.TaskGroup,
        put: Callable[[Gate], Awaitable[T]],
        decides: Callable[[T], bool],
        words: str,
    ) -> None:
        """Prepare a question that `put` asks through one gate; `decides` tells a decision from a missing answer."""
        self.words = words
        """The question in one line."""
        self._tasks = tasks
        self._put = put
        self._decides = decides
        self._asked: dict[AskedGate, anyio.CancelScope] = {}
        self._undecided: dict[AskedGate, T] = {}
        self._outcome: tuple[T, str] | None = None
        self._is_suspended = False
        self._changed = anyio.Event()

    def put_to(self, gate: AskedGate, name: str) -> None:
        """Ask one client unless it was already asked."""
        if gate not in self._asked and gate not in self._undecided:
            scope = self._asked[gate] = anyio.CancelScope()
            self._tasks.start_soon(self._ask, gate, name, scope)

    def withdraw_from(self, gate: AskedGate) -> None:
        """Remove a client that has left."""
        self._undecided.pop(gate, None)
        if scope := self._asked.pop(gate, None):
            scope.cancel()
        self._note_change()

    def suspend(self) -> None:
        """Stop waiting without an answer, so that the question can be asked again later."""
        self._is_suspended = True
        self._note_change()

    async def outcome(self, *, without_clients: Callable[[], T | None]) -> tuple[T, str] | None:
        """Wait for the outcome; return it with the name of the client it came from, or None once suspended.

        `without_clients` returns the outcome to use while no client can answer, or None to wait for one.
        """
        while self._outcome is None:
            if self._is_suspended:
                return None
            if not self._asked and self._undecided:
                return tuple(self._undecided.values())[-1], ""
            if not self._asked and (missing := without_clients()) is not None:
                return missing, ""
            await self._changed.wait()
        return self._outcome

    async def _ask(self, gate: AskedGate, name: str, scope: anyio.CancelScope) -> None:
        with scope:
            answer = await self._put(gate)
            if self._decides(answer):
                self._outcome = self._outcome or (answer, name)
            elif gate.is_connected:
                self._undecided[gate] = answer
        if not scope.cancelled_caught:
            self._asked.pop(gate, None)
        self._note_change()

    def _note_change(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
