"""The port to the person who can be asked for permission, and that person's answers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.proposals import Question, Reply


class PermissionResponse(Struct, frozen=True):
    """An answer with a comment and, by path, the texts that files should have instead.

    `left_out` describes, by path, the rejected parts of the proposal, as text for the model. `by` names the client that
    gave the answer.
    """

    answer: PermissionAnswer
    comment: str = ""
    texts: Mapping[str, str] = MappingProxyType({})
    left_out: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    by: str = ""


class PermissionScope(Struct, frozen=True):
    """The scope of an "always" answer as text; empty if the answer cannot be remembered.

    `session` lasts until the session ends; `workspace` applies to all later sessions in its folder. `manner` says how
    an allowed call then runs.
    """

    session: str = ""
    workspace: str = ""
    manner: str = ""


class AnswerAwaited(Exception):
    """Raised by a gate instead of an answer: the question stays open in the record, and the turn is suspended.

    Raised only for the model's own calls, because no other caller can be resumed.
    """


class Gate(Protocol):
    """Asks a person for permission, or for information that only they have.

    Both methods may raise AnswerAwaited.
    """

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask a person about one call and wait without a time limit; return `unavailable` if nobody is available.

        Only those "always" answers that `permission_scope` describes are offered.
        """
        ...

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask a person a call's question and wait without a time limit; return None if nobody is available."""
        ...
