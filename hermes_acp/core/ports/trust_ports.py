"""What a workspace contains that its user has to trust first, and what users settled beforehand.

Knows: the kinds of such things, that each is bound to its content, the seams behind which it is kept. Does not know:
where any of it lies, who is asked.
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
    """One thing of a workspace that could run code or loosen policy, as it is now.

    `digest` is of everything that decides what it does; `about` shows a person what that is, such as its command line.
    """

    kind: TrustKind
    name: str
    digest: str
    about: str = ""


class TrustedItem(Struct, frozen=True):
    """What a user trusted: this very content, and nothing else under that name. With the kind REJECTED: did not."""

    kind: str
    name: str
    digest: str


class WorkspacePolicyStore(Protocol):
    """What users settled beforehand for one workspace and another, by its working directory; costs next to nothing."""

    def rules(self, place: str) -> Sequence[Rule]:
        """Return the rules that hold there beside the user's own: those of the workspace itself, as far as trusted."""
        ...

    def grants(self, place: str) -> Sequence[Grant]:
        """Return the standing answers for every session there."""
        ...

    def remember(self, place: str, grants: Sequence[Grant]) -> None:
        """Keep standing answers for later sessions there. Raises StorageError."""
        ...


class Trust(Protocol):
    """What of a workspace's own its user trusts."""

    def is_trusted(self, place: str, item: TrustItem) -> bool:
        """Return whether a thing may be used that runs code or loosens policy: this very content of it."""
        ...
