"""The circumstances of one policy check: what is the same for every effect of a call."""

from collections.abc import Mapping

from msgspec import Struct

from hermes_acp.core.event_types import Mode
from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.grants import StandingGrants
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.policy.sensitive_names import is_protected


class PolicyContext(Struct, frozen=True):
    """The circumstances in which a call is checked.

    `own_home` is the agent's folder, `user_home` and `search_path` are those that commands will have.
    `tool_rule` is the rule about the called tool alone. `is_remote`: the files are on another machine and
    cannot be inspected from here. `imports` are the files that context files import, with the name of the
    importing file.
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
        """Return whether a file can run code or is part of the agent's instructions."""
        return path in self.imports or is_protected(path)
