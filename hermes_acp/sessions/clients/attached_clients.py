"""The clients attached to one session (observers and controllers) and the questions they are asked.

All clients are shown the same events in the same order. A question goes to every controller; the first valid answer
counts, and the question is withdrawn from the others. Losing a client never ends a turn.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Literal, Protocol, TypeVar

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct, structs

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn_limits import Unattended
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed, CommandAnswered, Event, UserSaid
from hermes_acp.core.messages import Part, words_in
from hermes_acp.core.ports.gate_ports import AnswerAwaited, Gate, PermissionResponse, PermissionScope
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.record.interrupted_calls import may_be_suspended
from hermes_acp.sessions.clients.open_questions import AskedGate, OpenQuestion

T = TypeVar("T")
Role = Literal["controller", "observer"]


class ClientGate(AskedGate, Protocol):
    """Asks the user of one client, as long as it is attached."""

    def close(self) -> None:
        """Tell the client to close the pages it opened for the turn that has ended."""
        ...


class AttachedClient(Struct, frozen=True, eq=False):
    """One client attached to a session.

    `connection` identifies the client; `name` is its display name, which is unique within the session.
    """

    connection: object
    name: str
    audience: Audience
    gate: ClientGate
    role: Role = "controller"
    on_departure: Callable[[object], None] | None = None
    """Called with the connection of each other client that leaves; never blocks or raises."""


class AttachedClients:
    """The clients of one session, in order of attachment. Implements `Gate` for the session's turns."""

    def __init__(self, ledger: Ledger) -> None:
        self.unattended: Unattended = "wait"
        self.arriving = 0
        """Clients that are being shown the history and will be attached afterwards."""
        self.standing: tuple[Event, ...] = ()
        """Events that no record contains and that every client is shown after attaching."""
        self._ledger = ledger
        self._clients: tuple[AttachedClient, ...] = ()
        self._questions: dict[OpenQuestion[Any], str] = {}
        """The open questions by the ID of the call they are about."""
        self._prompts: list[tuple[tuple[Part, ...], object]] = []

    def __len__(self) -> int:
        return len(self._clients)

    @property
    def attached(self) -> tuple[AttachedClient, ...]:
        """All clients."""
        return self._clients

    @property
    def controllers(self) -> tuple[AttachedClient, ...]:
        """The clients that may act."""
        return tuple(client for client in self._clients if client.role == "controller")

    @property
    def asks(self) -> tuple[str, ...]:
        """The open questions, each in one line."""
        return tuple(question.words for question in self._questions)

    def find(self, connection: object) -> AttachedClient | None:
        """Return the attached client of a connection."""
        return next((client for client in self._clients if client.connection is connection), None)

    def attach(self, client: AttachedClient) -> AttachedClient:
        """Attach a client, replacing any earlier attachment of its connection; return it with its unique name.

        The client receives all events from now on. `brief` shows it the current state and the open questions.
        """
        self._forget(client.connection)
        client = structs.replace(client, name=self._unique(client.name))
        self._clients = (*self._clients, client)
        self._ledger.admit(client.audience)
        return client

    def brief(self, connection: object) -> None:
        """Show a newly attached client the current state, and ask it the open questions."""
        client = self.find(connection)
        if client is None:
            return
        for event in self.standing:
            client.audience.show(event)
        if client.role == "controller":
            for question in self._questions:
                question.put_to(client.gate, client.name)

    def detach(self, connection: object) -> None:
        """Detach a client; questions it was asked remain open for the others."""
        if client := self._forget(connection):
            self._ledger.dismiss(client.audience)
            for other in self._clients:
                if other.on_departure:
                    other.on_departure(connection)

    def _forget(self, connection: object) -> AttachedClient | None:
        client = self.find(connection)
        if client:
            self._clients = tuple(other for other in self._clients if other is not client)
            for question in tuple(self._questions):
                question.withdraw_from(client.gate)
        return client

    def end_turn(self) -> None:
        """Tell the clients to close the pages they opened for the turn that has ended."""
        for client in self._clients:
            client.gate.close()

    @contextmanager
    def prompting(self, parts: tuple[Part, ...], connection: object) -> Generator[None]:
        """Record which client sent a prompt, until its turn ends, because that client already displays it."""
        sent = parts, connection
        self._prompts.append(sent)
        try:
            yield
        finally:
            self._prompts.remove(sent)

    def is_prompting(self, connection: object) -> bool:
        """Return whether the client is waiting for the end of a prompt that it sent."""
        return any(author is connection for _, author in self._prompts)

    def author_of(self, event: UserSaid | CommandAnswered) -> object | None:
        """Return the connection that sent the prompt in an event, or None if it cannot be determined.

        The event's text may differ from the prompt: secrets may be masked, and a template may add parts at the end.
        """
        if isinstance(event, UserSaid):
            for parts, author in self._prompts:
                if parts and event.parts and parts[0] is event.parts[0]:
                    return author
        clean = self._ledger.redactor.clean
        said = words_in(event.parts) if isinstance(event, UserSaid) else clean(event.prompt)
        for parts, author in self._prompts:
            if clean(words_in(parts)) == said:
                return author
        authors = [author for _, author in self._prompts]
        return authors[0] if authors and all(author is authors[0] for author in authors) else None

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask every controller about one call; return the first answer, with the name of the client it came from.

        Raises AnswerAwaited if the question is suspended.
        """

        async def put(gate: Gate) -> PermissionResponse:
            answer = await gate.ask(call, permission_scope=permission_scope)
            return answer if isinstance(answer, PermissionResponse) else PermissionResponse(answer)

        question = partial(OpenQuestion, put=put, decides=_is_decision, words=call.title)
        answer, name = await self._put(question, call.call_id, PermissionResponse("unavailable"))
        return structs.replace(answer, by=name)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask every controller the call's question; return the first reply. Raises AnswerAwaited if it is suspended."""

        async def put(gate: Gate) -> tuple[Reply | None]:
            return (await gate.inquire(call_id, question),)

        opened = partial(OpenQuestion, put=put, decides=_is_reply, words=question.text)
        (reply,), name = await self._put(opened, call_id, (None,))
        return reply and structs.replace(reply, by=name)

    async def _put(
        self, open_question: Callable[[TaskGroup], OpenQuestion[T]], call_id: str, unanswered: T
    ) -> tuple[T, str]:
        """Ask all controllers a question, including those that attach later, and wait for its outcome."""
        outcome: tuple[T, str] | None = None
        async with anyio.create_task_group() as tasks:
            question = open_question(tasks)
            self._questions[question] = call_id
            try:
                for client in self.controllers:
                    question.put_to(client.gate, client.name)
                outcome = await question.outcome(
                    without_clients=lambda: unanswered if self.unattended == "continue" else None
                )
            finally:
                del self._questions[question]
                tasks.cancel_scope.cancel()
        if outcome is None:
            raise AnswerAwaited
        return outcome

    def suspend(self) -> bool:
        """Suspend the open questions for a later process; return whether there were any and all could be suspended.

        Only questions about the model's own calls can be suspended, and only if questions wait for clients to return.
        """
        calls = self._ledger.record.calls
        own = {call.id for call in calls.of_model() if may_be_suspended(calls, call)}
        if self.unattended != "wait" or not self._questions or not own.issuperset(self._questions.values()):
            return False
        for question in self._questions:
            question.suspend()
        return True

    def _unique(self, name: str) -> str:
        """Return a variant of the name that no other client of the session has."""
        taken = {client.name for client in self._clients}
        return next(
            each
            for number in count(1)
            if (each := name if number == 1 else f"{name} ({number})") not in taken
        )


def _is_decision(answer: PermissionResponse) -> bool:
    return answer.answer not in ("unavailable", "cancelled")


def _is_reply(reply: tuple[Reply | None]) -> bool:
    return reply[0] is not None and reply[0].outcome != "dismissed"
