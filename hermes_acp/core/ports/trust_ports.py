"""What a workspace contains that its user must trust first, and what users have already decided.

Trust is bound to content: a changed item is a new one.
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Grant
from hermes_acp.core.policy_rules import Rule

TrustKind = Literal["rules", "mcp_server", "hook", "script", "tool", "prompt", "variables", "context_file"]

REJECTED: Final = "rejected_context_file"
"""The kind of an entry that records what a user rejected."""


class TrustItem(Struct, frozen=True):
    """An item of a workspace that could run code or loosen policy, in its current state.

    `digest` covers everything that determines what it does; `about` describes that to a person, such as its command
    line.
    """

    kind: TrustKind
    name: str
    digest: str
    about: str = ""


class TrustedItem(Struct, frozen=True):
    """An item that a user trusted, with exactly this content; with the kind REJECTED, one that the user rejected."""

    kind: str
    name: str
    digest: str


class WorkspacePolicyStore(Protocol):
    """Rules and grants of workspaces, by working directory; lookups are cheap."""

    def rules(self, place: str) -> Sequence[Rule]:
        """Return the rules that apply there in addition to the user's own: the workspace's rules, as far as trusted."""
        ...

    def grants(self, place: str) -> Sequence[Grant]:
        """Return the standing answers for all sessions there."""
        ...

    def remember(self, place: str, grants: Sequence[Grant]) -> None:
        """Store grants for later sessions there. Raises StorageError."""
        ...


class Trust(Protocol):
    """What users trust in their workspaces."""

    def is_trusted(self, place: str, item: TrustItem) -> bool:
        """Return whether exactly this content of an item may be used."""
        ...
