"""Build policies from the environment and the settings."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE, PROFILES_FOLDER
from hermes_acp.core.denied_paths import DeniedPath, DeniedPathLookup
from hermes_acp.core.ports.trust_ports import WorkspacePolicyStore

if TYPE_CHECKING:
    from hermes_acp.config.sections.rule_settings import RuleSettings
    from hermes_acp.config.settings import Settings
    from hermes_acp.policy.policy_engine import Policy


def build_policy(
    environment: Environment,
    rules: "Sequence[RuleSettings]" = (),
    policy_store: WorkspacePolicyStore | None = None,
    imports: Callable[[str], Mapping[str, str]] | None = None,
) -> "Policy":
    """Build the policy for all sessions of a process; `rules` are the user's own.

    `imports` returns the files imported by a workspace's context files.
    """
    from hermes_acp.policy.policy_engine import Policy

    variables = environment.variables
    folders = variables.get("PATH", os.defpath).split(os.pathsep)
    user_home = variables.get("HOME") or os.path.expanduser("~")
    file = str(environment.config_file)
    return Policy(
        str(environment.private_folder.resolve()),
        user_home,
        [folder or "." for folder in folders],
        [rule.rule(file, is_users=True) for rule in rules],
        policy_store,
        imports,
        (foreign_homes(environment),),
    )


def foreign_homes(environment: Environment) -> DeniedPath:
    """Return a pattern for the paths in the homes of all other profiles."""
    base = os.path.realpath(environment.private_folder).casefold()
    below = re.escape(PROFILES_FOLDER)
    if environment.profile == DEFAULT_PROFILE:
        return DeniedPath(f"{re.escape(base)}/{below}/.+", f"{base}/{PROFILES_FOLDER}")
    own = f"{below}/{re.escape(environment.profile)}"
    return DeniedPath(f"{re.escape(base)}/(?!{below}$|{own}(?:/|$)).+", base)


def denied_path_lookup(
    environment: Environment, settings: "Callable[[], Settings | None]", policy_store: WorkspacePolicyStore
) -> DeniedPathLookup:
    """Return a lookup for the paths that rules deny; `settings` returns the user's settings once they are loaded."""

    def denied_paths(place: str, tools: Sequence[str], folder: str = "") -> tuple[DeniedPath, ...]:
        known = settings()
        policy = build_policy(environment, known.rules if known else (), policy_store)
        return policy.denied_paths(place, tools, folder)

    return denied_paths
