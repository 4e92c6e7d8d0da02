"""Ports for trust in a workspace: what its user must trust before it is used, and what users have already decided.

Trust is bound to content: a changed item counts as a new one.
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
    """An item in a workspace that could run code or loosen policy, in its current state.

    `digest` covers everything that determines what it does; `about` describes that to people, for example by its
    command line.
    """

    kind: TrustKind
    name: str
    digest: str
    about: str = ""


class TrustedItem(Struct, frozen=True):
    """An item that a user has trusted with exactly this content or, if its kind is REJECTED, has rejected."""

    kind: str
    name: str
    digest: str


class WorkspacePolicyStore(Protocol):
    """Rules and grants for workspaces, looked up by working directory; lookups are cheap."""

    def rules(self, place: str) -> Sequence[Rule]:
        """Return the workspace's own rules that apply in addition to the user's, as far as they are trusted."""
        ...

    def grants(self, place: str) -> Sequence[Grant]:
        """Return the "always" answers that apply to all sessions in a workspace."""
        ...

    def remember(self, place: str, grants: Sequence[Grant]) -> None:
        """Store grants for later sessions in a workspace. Raises StorageError."""
        ...


class Trust(Protocol):
    """What users trust in their workspaces."""

    def is_trusted(self, place: str, item: TrustItem) -> bool:
        """Return whether an item may be used with exactly this content."""
        ...
