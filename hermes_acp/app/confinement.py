"""Build the inputs for command confinement from policy, web addresses and the sandbox."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.trust_ports import WorkspacePolicyStore
from hermes_acp.policy.policy_factory import denied_path_lookup
from hermes_acp.workspaces.sandbox_setup import ConfinementInputs

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames


def confinement_inputs(
    environment: Environment, settings: "Callable[[], Settings | None]", policy_store: WorkspacePolicyStore
) -> ConfinementInputs:
    """Return the inputs that sandboxes get from policy and the web; `settings` returns the settings once known."""
    return ConfinementInputs(
        guarded_names, _is_public, denied_path_lookup(environment, settings, policy_store)
    )


def guarded_names() -> "GuardedNames":
    """Return the names that sandboxed commands may neither change nor see."""
    from hermes_acp.policy.sensitive_names import (
        PROTECTED_FILES,
        PROTECTED_FOLDERS,
        SECRET_FOLDERS,
        is_protected,
        is_sensitive,
        may_name_secrets,
    )
    from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames

    return GuardedNames(
        PROTECTED_FOLDERS, PROTECTED_FILES, SECRET_FOLDERS, is_protected, is_sensitive, may_name_secrets
    )


def _is_public(ip: str) -> bool:
    from hermes_acp.web.web_addresses import is_public

    return is_public(ip)
