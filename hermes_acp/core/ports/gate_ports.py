"""The port to the person who can be asked, and their answers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.proposals import Question, Reply


class PermissionResponse(Struct, frozen=True):
    """An answer with a comment, and with the texts that files shall have instead, by path.

    `left_out` says by path which parts of the proposal are not wanted, in words for the model.
    """

    answer: PermissionAnswer
    comment: str = ""
    texts: Mapping[str, str] = MappingProxyType({})
    left_out: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class PermissionScope(Struct, frozen=True):
    """What a lasting answer would be remembered for, in words; empty where it would not be.

    `session` holds until the session ends, `workspace` for every later session in its folder. `manner` says how what
    was allowed runs then.
    """

    session: str = ""
    workspace: str = ""
    manner: str = ""


class Gate(Protocol):
    """Whoever can be asked, for permission or for what only they know."""

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Put one call to a person and wait as long as it takes; `unavailable` where nobody can be asked.

        Lasting answers are offered as far as `permission_scope` says what they would be remembered for.
        """
        ...

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Put a call's question to a person and wait as long as it takes; None where nobody can be asked."""
        ...
