"""The runs of a home folder, for commands that do not drive them."""

from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment

if TYPE_CHECKING:
    from hermes_acp.runs.run_service import RunService


def stored_runs(environment: Environment) -> "RunService":
    """Return the runs of a home folder for a process that does not drive them."""
    from hermes_acp.clock import SystemClock
    from hermes_acp.ids import RandomIds
    from hermes_acp.runs.run_service import RunService, cannot_drive
    from hermes_acp.storage.session_store import SessionStore

    store = SessionStore(environment.home)
    return RunService(environment, SystemClock(), RandomIds(), cannot_drive, store.path_of)
