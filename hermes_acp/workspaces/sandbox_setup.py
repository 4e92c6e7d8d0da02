"""Set up the confinement of commands from the settings and the functions of the policy and web packages."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.core.denied_paths import DeniedPath, DeniedPathLookup

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.workspaces.backends.local import SandboxSetup
    from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions
    from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import DetectedSandbox
    from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames, SandboxPolicy


class ConfinementInputs(Struct, frozen=True):
    """The inputs to sandboxes from other packages; each function is called when the first command has to be confined.

    `guarded` returns the names that no command in a sandbox may change or see, `is_public` whether an address is
    outside all private networks, and `denied_paths` the paths that rules deny to tools.
    """

    guarded: "Callable[[], GuardedNames]"
    is_public: Callable[[str], bool]
    denied_paths: DeniedPathLookup


COMMAND_TOOLS: Final = ("terminal", "execute_code")
"""The tools that run commands. Commands cannot see paths that a rule denies to any of these tools."""


def sandbox_setup(settings: "Callable[[], Settings | None]", inputs: ConfinementInputs) -> "SandboxSetup":
    """Return how this process's workspaces are confined; `settings` returns the settings once they are loaded."""
    from hermes_acp.workspaces.backends.local import SandboxSetup
    from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import detect_sandbox

    return SandboxSetup(
        lambda: sandbox_bounds(settings(), inputs.guarded()),
        inputs.is_public,
        detect_sandbox,
        lambda place: inputs.denied_paths(place, COMMAND_TOOLS),
    )


def container_restrictions(inputs: ConfinementInputs, place: str) -> "MountRestrictions":
    """Return the restrictions on unapproved commands in containers, for a session in a folder."""
    from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions

    return MountRestrictions(inputs.guarded(), lambda: inputs.denied_paths(place, COMMAND_TOOLS))


def remote_denied_paths(inputs: ConfinementInputs, place: str) -> Callable[[str], tuple[DeniedPath, ...]]:
    """Return a function that looks up the paths that rules deny to a session's commands in a remote folder."""

    def denied_paths(folder: str) -> tuple[DeniedPath, ...]:
        return inputs.denied_paths(place, COMMAND_TOOLS, folder)

    return denied_paths


def sandbox_bounds(settings: "Settings | None", guarded: "GuardedNames") -> "SandboxPolicy":
    """Return the sandbox policy from the settings, or the default one."""
    from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy

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
    """Return a remark on which commands are not confined as they should be, or an empty string.

    Blocks for a few milliseconds if a sandbox is wanted.
    """
    if settings.sandbox.mode == "off":
        return ""
    found = sandbox_here(settings, variables)
    is_said = found.way == "none" or settings.sandbox.mode == "on" or settings.mode == "auto"
    return sandbox_notice(found) if is_said else ""


def sandbox_here(settings: "Settings | None", variables: Mapping[str, str], *roots: str) -> "DetectedSandbox":
    """Return how this machine confines the commands of a workspace with these roots, according to the settings."""
    from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import DetectedSandbox, detect_sandbox

    if settings and settings.sandbox.mode == "off":
        return DetectedSandbox("none", remark="The sandbox is turned off in the settings.")
    if "/" in roots:
        return DetectedSandbox(
            "none", remark="The workspace is the whole machine, so a sandbox has nothing to protect."
        )
    return detect_sandbox(variables, roots)


def sandbox_notice(found: "DetectedSandbox") -> str:
    """Return a notice for the user about the sandbox, or an empty string if all is well."""
    from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import HOW_TO_FIX

    return "" if found.way == "bubblewrap" else f"{found.remark} {HOW_TO_FIX[found.way]}"
