"""How commands of this machine are confined, from what is configured.

Knows: which names policy guards, which addresses belong to nobody's own network, what a user is told where confinement
is not what it should be. Does not know: how a sandbox works.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from hermes_acp.config.environment import Environment
from hermes_acp.core.closures import Closure
from hermes_acp.core.trust import Settlements

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.workspaces.backends.local import SandboxSetup
    from hermes_acp.workspaces.containers.unattended import Precautions
    from hermes_acp.workspaces.sandbox.bounds import Bounds
    from hermes_acp.workspaces.sandbox.detection import Found


class Shutter(Protocol):
    """Gives what rules keep some tools out of, for sessions in a place, whose files may be in a `folder` elsewhere."""

    def __call__(self, place: str, tools: Sequence[str], folder: str = "") -> tuple[Closure, ...]:
        """Look it up, as it is at that moment."""
        ...


OF_COMMANDS: Final = ("terminal", "execute_code")
"""The tools that run commands: what a rule keeps one of them out of, no command sees."""


def shutter_of(
    environment: Environment, settings: "Callable[[], Settings | None]", settlements: Settlements
) -> Shutter:
    """Choose whose rules shut files; `settings` gives them once they are known."""

    def closures(place: str, tools: Sequence[str], folder: str = "") -> tuple[Closure, ...]:
        from hermes_acp.assembly.policies import policy_of

        known = settings()
        return policy_of(environment, known.rules if known else (), settlements).closures(
            place, tools, folder
        )

    return closures


def confinement_of(settings: "Callable[[], Settings | None]", shutter: Shutter) -> "SandboxSetup":
    """Choose how the workspaces of this process are confined; `settings` gives them once they are known."""
    from hermes_acp.workspaces.backends.local import SandboxSetup
    from hermes_acp.workspaces.sandbox.detection import find_way

    return SandboxSetup(
        lambda: bounds_of(settings()), _is_public, find_way, lambda place: shutter(place, OF_COMMANDS)
    )


def precautions_of(shutter: Shutter, place: str) -> "Precautions":
    """Choose what a container keeps from commands nobody approved, for a session in a folder."""
    from hermes_acp.workspaces.containers.unattended import Precautions

    guarded = bounds_of(None).guarded
    return Precautions(guarded, lambda: shutter(place, OF_COMMANDS))


def shut_elsewhere(shutter: Shutter, place: str) -> Callable[[str], tuple[Closure, ...]]:
    """Choose what rules keep from commands of a session of a place here that works in a folder elsewhere."""

    def closures(folder: str) -> tuple[Closure, ...]:
        return shutter(place, OF_COMMANDS, folder)

    return closures


def bounds_of(settings: "Settings | None") -> "Bounds":
    """Give the bounds that settings set, or the usual ones."""
    from hermes_acp.policy.names import (
        PROTECTED_FILES,
        PROTECTED_FOLDERS,
        SECRET_FOLDERS,
        is_protected,
        is_sensitive,
        may_name_secrets,
    )
    from hermes_acp.workspaces.sandbox.bounds import Bounds, Guarded

    guarded = Guarded(
        PROTECTED_FOLDERS, PROTECTED_FILES, SECRET_FOLDERS, is_protected, is_sensitive, may_name_secrets
    )
    if settings is None:
        return Bounds(guarded=guarded)
    section = settings.sandbox
    return Bounds(
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


def remark_on(settings: "Settings", variables: Mapping[str, str]) -> str:
    """Say where commands that are to be confined are not, or not as they should be; nothing where all is well.

    Blocks for some milliseconds where a sandbox is meant to be used.
    """
    if settings.sandbox.mode == "off":
        return ""
    found = sandbox_here(settings, variables)
    is_said = found.way == "none" or settings.sandbox.mode == "on" or settings.mode == "auto"
    return told_of(found) if is_said else ""


def sandbox_here(settings: "Settings | None", variables: Mapping[str, str], *roots: str) -> "Found":
    """Return how this machine confines the commands of a workspace with these roots, as the settings have it."""
    from hermes_acp.workspaces.sandbox.detection import Found, find_way

    if settings and settings.sandbox.mode == "off":
        return Found("none", remark="The sandbox is turned off in the settings.")
    if "/" in roots:
        return Found("none", remark="The whole machine is the workspace: there is nothing to keep out of.")
    return find_way(variables, roots)


def told_of(found: "Found") -> str:
    """Return what a user is to be told of the sandbox; empty where all is well."""
    from hermes_acp.workspaces.sandbox.detection import HOW_TO_MEND

    return "" if found.way == "bubblewrap" else f"{found.remark} {HOW_TO_MEND[found.way]}"


def _is_public(ip: str) -> bool:
    from hermes_acp.web.addresses import is_public

    return is_public(ip)
