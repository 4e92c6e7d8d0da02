"""One judgement's circumstances.

Knows: what is the same for every effect of a call. Does not know: any effect.
"""

from collections.abc import Mapping

from msgspec import Struct

from hermes_acp.core.rules import Rule
from hermes_acp.core.terms import Mode
from hermes_acp.policy.grants import Standing
from hermes_acp.policy.names import is_protected
from hermes_acp.policy.rulebook import Rulebook


class Case(Struct, frozen=True):
    """Under what a call is judged.

    `own_home` is the agent's folder, `user_home` and `search_path` are those that commands will have. `tool_rule` is
    the rule about the called tool alone. `is_far`: the files are on another machine, and not this one's to look at.
    `imports` are the files that context files import, with the name of the one that does.
    """

    mode: Mode
    standing: Standing
    rulebook: Rulebook
    tool: str = ""
    tool_rule: Rule | None = None
    own_home: str = ""
    user_home: str = "/"
    search_path: tuple[str, ...] = ()
    is_far: bool = False
    imports: Mapping[str, str] = {}

    def protects(self, path: str) -> bool:
        """Tell whether a file can run code or is part of what agents are instructed by."""
        return path in self.imports or is_protected(path)
