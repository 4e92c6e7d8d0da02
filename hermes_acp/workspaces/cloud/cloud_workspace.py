"""Shared parts of the cloud backends: check for the library, report errors, assemble the workspace."""

from importlib.util import find_spec
from typing import TypeVar

from hermes_acp.config.installation import extra_hint
from hermes_acp.core.errors import ConfigError, WorkspaceError
from hermes_acp.workspaces.cloud.cloud_host import CloudHost, CloudService, DeniedPathLookup
from hermes_acp.workspaces.cloud.kept_sandboxes import SandboxClaim
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace
from hermes_acp.workspaces.remote.remote_commands import RemoteCommands
from hermes_acp.workspaces.remote.remote_files import RemoteFiles

Sandbox = TypeVar("Sandbox")


def require_library(name: str) -> None:
    """Raise ConfigError if a service's own library is missing; the extra of the same name installs it."""
    if find_spec(name) is None:
        raise ConfigError(f"The library {name} is not installed.", hint=extra_hint(name))


def service_error(service: str, what: str, error: Exception) -> WorkspaceError:
    """Return the error for an operation that failed at a service."""
    return WorkspaceError(f"{service} {what}: {error}.", hint="Check your account there.", retryable=True)


def require_sandbox(service: str, sandbox: Sandbox | None) -> Sandbox:
    """Return the sandbox. Raises WorkspaceError if it was released."""
    if sandbox is None:
        raise WorkspaceError(f"The sandbox at {service} no longer exists.", hint="Start a new session.")
    return sandbox


def open_cloud_workspace(
    service: CloudService,
    folder: str,
    denied_paths: DeniedPathLookup,
    *,
    has_network: bool,
    claim: SandboxClaim | None = None,
) -> CompositeWorkspace:
    """Open a workspace in a folder at a service, without renting anything yet."""
    host = CloudHost(service, folder, has_network=has_network, denied_paths=denied_paths, claim=claim)
    files = RemoteFiles(host, folder, (folder,))
    return CompositeWorkspace(files, RemoteCommands(host, files.locate))
