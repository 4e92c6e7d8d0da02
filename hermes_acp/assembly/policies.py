"""The policy of this process.

Knows: whose home is guarded, and how commands find their programs. Does not know: any rule.
"""

import os

from hermes_acp.config.environment import Environment
from hermes_acp.policy.rules import Policy


def policy_of(environment: Environment) -> Policy:
    """Choose the policy for sessions of one process."""
    variables = environment.variables
    folders = variables.get("PATH", os.defpath).split(os.pathsep)
    user_home = variables.get("HOME") or os.path.expanduser("~")
    return Policy(str(environment.home.resolve()), user_home, [folder or "." for folder in folders])
