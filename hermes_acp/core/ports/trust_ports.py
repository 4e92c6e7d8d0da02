"""What a workspace contains that its user must trust first, and what users settled beforehand.

Trust is bound to content: a changed item is a new one.
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Grant
from hermes_acp.core.policy_rules import Rule

TrustKind = Literal["rules", "mcp_server", "hook", "script", "tool", "prompt", "variables", "context_file"]

REJECTED: Final = "rejected_context_file"
"""The kind of an entry that says what a user rejected."""


class TrustItem(Struct, frozen=True):
    """An item of a workspace that could run code or loosen policy, as it is now.

    `digest` is of everything that decides what it does; `about` shows a person what that is, such as its command
    line.
    """

    kind: TrustKind
    name: str
    digest: str
    about: str = ""


class TrustedItem(Struct, frozen=True):
    """An item that a user trusted: this very content. With the kind REJECTED, one that they did not trust."""

    kind: str
    name: str
    digest: str


class WorkspacePolicyStore(Protocol):
    """Rules and grants for each workspace, by its working directory; costs next to nothing."""

    def rules(self, place: str) -> Sequence[Rule]:
        """Return the rules there beside the user's own: those of the workspace, as far as trusted."""
        ...

    def grants(self, place: str) -> Sequence[Grant]:
        """Return the standing answers for every session there."""
        ...

    def remember(self, place: str, grants: Sequence[Grant]) -> None:
        """Store grants for later sessions there. Raises StorageError."""
        ...


class Trust(Protocol):
    """What users trust of their workspaces."""

    def is_trusted(self, place: str, item: TrustItem) -> bool:
        """Return whether this very content of an item may be used."""
        ...
