"""One judgement's circumstances.

Knows: what is the same for every effect of a call. Does not know: any effect.
"""

from collections.abc import Mapping

from msgspec import Struct

from hermes_acp.core.event_types import Mode
from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.grants import StandingGrants
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.policy.sensitive_names import is_protected


class PolicyContext(Struct, frozen=True):
    """Under what a call is judged.

    `own_home` is the agent's folder, `user_home` and `search_path` are those that commands will have. `tool_rule` is
    the rule about the called tool alone. `is_remote`: the files are on another machine, and not this one's to look at.
    `imports` are the files that context files import, with the name of the one that does.
    """

    mode: Mode
    standing_grants: StandingGrants
    rulebook: RuleSet
    tool: str = ""
    tool_rule: Rule | None = None
    own_home: str = ""
    user_home: str = "/"
    search_path: tuple[str, ...] = ()
    is_remote: bool = False
    imports: Mapping[str, str] = {}

    def protects(self, path: str) -> bool:
        """Return whether a file can run code or is part of what agents are instructed by."""
        return path in self.imports or is_protected(path)
