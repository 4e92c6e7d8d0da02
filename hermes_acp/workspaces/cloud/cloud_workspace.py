"""What every backend of a hired sandbox does alike: ask for its library, tell of its troubles, join its parts.

Knows: how a workspace at a service is put together. Does not know: any service.
"""

from importlib.util import find_spec
from typing import TypeVar

from hermes_acp.core.errors import BadConfig, WorkspaceTrouble
from hermes_acp.workspaces.cloud.hired import Closures, HiredHost, Service
from hermes_acp.workspaces.machine import Machine
from hermes_acp.workspaces.remote.commands import FarCommands
from hermes_acp.workspaces.remote.files import FarFiles

Sandbox = TypeVar("Sandbox")


def require_library(name: str) -> None:
    """Raise BadConfig where a service's own library, which an extra of the same name brings, is not installed."""
    if find_spec(name) is None:
        raise BadConfig(
            f"The library {name} is not installed.", hint=f"pip install 'hermes-acp-server[{name}]'"
        )


def tell_trouble(service: str, what: str, error: Exception) -> WorkspaceTrouble:
    """Give the error for what a service did not do."""
    return WorkspaceTrouble(f"{service} {what}: {error}.", hint="Look at your account there.", retryable=True)


def still_hired(service: str, sandbox: Sandbox | None) -> Sandbox:
    """Give the sandbox. Raises WorkspaceTrouble where it was given back."""
    if sandbox is None:
        raise WorkspaceTrouble(f"There is no sandbox at {service} any more.", hint="Begin a new session.")
    return sandbox


def open_hired(service: Service, folder: str, closures: Closures, *, has_network: bool) -> Machine:
    """Open a workspace in a folder at a service; nothing is hired yet."""
    host = HiredHost(service, folder, has_network=has_network, closures=closures)
    files = FarFiles(host, folder, (folder,))
    return Machine(files, FarCommands(host, files.locate))
