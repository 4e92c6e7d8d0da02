"""The context of one policy check, shared by all effects of a call."""

from collections.abc import Mapping

from msgspec import Struct

from hermes_acp.core.event_types import Mode
from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.grants import StandingGrants
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.policy.sensitive_names import is_protected


class PolicyContext(Struct, frozen=True):
    """The context in which a call is checked.

    `own_home` is the agent's folder; commands will see `user_home` and `search_path`. `tool_rule` is the rule for the
    called tool as a whole. `is_remote` means that the files are on another machine and cannot be inspected from here.
    `imports` maps each file imported by a context file to the name of the importing file.
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
