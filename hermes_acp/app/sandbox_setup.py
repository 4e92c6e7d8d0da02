"""How commands of this machine are confined, from what is configured.

Knows: which names policy guards, which addresses belong to nobody's own network, what a user is told where confinement
is not what it should be. Does not know: how a sandbox works.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from hermes_acp.config.environment import Environment
from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.trust_types import WorkspacePolicyStore

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.workspaces.backends.local import SandboxSetup
    from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions
    from hermes_acp.workspaces.sandbox.sandbox_detection import DetectedSandbox
    from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy


class ClosureLookup(Protocol):
    """Gives what rules keep some tools out of, for sessions in a place, whose files may be in a `folder` elsewhere."""

    def __call__(self, place: str, tools: Sequence[str], folder: str = "") -> tuple[DeniedPath, ...]:
        """Look it up, as it is at that moment."""
        ...


COMMAND_TOOLS: Final = ("terminal", "execute_code")
"""The tools that run commands: what a rule keeps one of them out of, no command sees."""


def closure_lookup(
    environment: Environment, settings: "Callable[[], Settings | None]", policy_store: WorkspacePolicyStore
) -> ClosureLookup:
    """Choose whose rules shut files; `settings` gives them once they are known."""

    def denied_paths(place: str, tools: Sequence[str], folder: str = "") -> tuple[DeniedPath, ...]:
        from hermes_acp.policy.policy_factory import build_policy

        known = settings()
        return build_policy(environment, known.rules if known else (), policy_store).denied_paths(
            place, tools, folder
        )

    return denied_paths


def sandbox_setup(settings: "Callable[[], Settings | None]", closures_for: ClosureLookup) -> "SandboxSetup":
    """Choose how the workspaces of this process are confined; `settings` gives them once they are known."""
    from hermes_acp.workspaces.backends.local import SandboxSetup
    from hermes_acp.workspaces.sandbox.sandbox_detection import detect_sandbox

    return SandboxSetup(
        lambda: sandbox_bounds(settings()),
        _is_public,
        detect_sandbox,
        lambda place: closures_for(place, COMMAND_TOOLS),
    )


def container_precautions(closures_for: ClosureLookup, place: str) -> "MountRestrictions":
    """Choose what a container keeps from commands nobody approved, for a session in a folder."""
    from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions

    guarded = sandbox_bounds(None).guarded
    return MountRestrictions(guarded, lambda: closures_for(place, COMMAND_TOOLS))


def remote_closures(closures_for: ClosureLookup, place: str) -> Callable[[str], tuple[DeniedPath, ...]]:
    """Choose what rules keep from commands of a session of a place here that works in a folder elsewhere."""

    def denied_paths(folder: str) -> tuple[DeniedPath, ...]:
        return closures_for(place, COMMAND_TOOLS, folder)

    return denied_paths


def sandbox_bounds(settings: "Settings | None") -> "SandboxPolicy":
    """Return the bounds that settings set, or the usual ones."""
    from hermes_acp.policy.sensitive_names import (
        PROTECTED_FILES,
        PROTECTED_FOLDERS,
        SECRET_FOLDERS,
        is_protected,
        is_sensitive,
        may_name_secrets,
    )
    from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames, SandboxPolicy

    guarded = GuardedNames(
        PROTECTED_FOLDERS, PROTECTED_FILES, SECRET_FOLDERS, is_protected, is_sensitive, may_name_secrets
    )
    if settings is None:
        return SandboxPolicy(guarded=guarded)
    section = settings.sandbox
    return SandboxPolicy(
        when=section.mode,
        has_network=section.network == "on",
        hosts=section.network if isinstance(section.network, tuple) else (),
        readable=section.read_only,
        writable=section.writable,
        variables=section.variables,
        guarded=guarded,
        max_processes=section.max_processes,
        memory_bytes=section.memory,
        file_bytes=section.file_size,
        cpu_s=section.cpu_s,
    )


def sandbox_remark(settings: "Settings", variables: Mapping[str, str]) -> str:
    """Say where commands that are to be confined are not, or not as they should be; nothing where all is well.

    Blocks for some milliseconds where a sandbox is meant to be used.
    """
    if settings.sandbox.mode == "off":
        return ""
    found = sandbox_here(settings, variables)
    is_said = found.way == "none" or settings.sandbox.mode == "on" or settings.mode == "auto"
    return sandbox_notice(found) if is_said else ""


def sandbox_here(settings: "Settings | None", variables: Mapping[str, str], *roots: str) -> "DetectedSandbox":
    """Return how this machine confines the commands of a workspace with these roots, as the settings have it."""
    from hermes_acp.workspaces.sandbox.sandbox_detection import DetectedSandbox, detect_sandbox

    if settings and settings.sandbox.mode == "off":
        return DetectedSandbox("none", remark="The sandbox is turned off in the settings.")
    if "/" in roots:
        return DetectedSandbox(
            "none", remark="The whole machine is the workspace: there is nothing to keep out of."
        )
    return detect_sandbox(variables, roots)


def sandbox_notice(found: "DetectedSandbox") -> str:
    """Return what a user is to be told of the sandbox; empty where all is well."""
    from hermes_acp.workspaces.sandbox.sandbox_detection import HOW_TO_FIX

    return "" if found.way == "bubblewrap" else f"{found.remark} {HOW_TO_FIX[found.way]}"


def _is_public(ip: str) -> bool:
    from hermes_acp.web.web_addresses import is_public

    return is_public(ip)
