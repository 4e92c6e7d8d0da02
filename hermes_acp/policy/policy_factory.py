"""The policy of this process.

Knows: whose home is guarded, and how commands find their programs. Does not know: any rule.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.core.trust_types import WorkspacePolicyStore
from hermes_acp.policy.policy_engine import Policy

if TYPE_CHECKING:
    from hermes_acp.config.rule_settings import RuleSettings


def build_policy(
    environment: Environment,
    rules: "Sequence[RuleSettings]" = (),
    policy_store: WorkspacePolicyStore | None = None,
    imports: Callable[[str], Mapping[str, str]] | None = None,
) -> Policy:
    """Choose the policy for sessions of one process: `rules` are the user's own.

    `imports` gives what the context files of a place import.
    """
    variables = environment.variables
    folders = variables.get("PATH", os.defpath).split(os.pathsep)
    user_home = variables.get("HOME") or os.path.expanduser("~")
    file = str(environment.config_file)
    return Policy(
        str(environment.home.resolve()),
        user_home,
        [folder or "." for folder in folders],
        [rule.rule(file, is_users=True) for rule in rules],
        policy_store,
        imports,
    )
