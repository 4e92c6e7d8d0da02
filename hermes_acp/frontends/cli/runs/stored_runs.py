"""Access the runs of a home folder, in commands that do not work on them."""

from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment

if TYPE_CHECKING:
    from hermes_acp.runs.run_service import RunService


def stored_runs(environment: Environment) -> "RunService":
    """Return the run service of a home folder, for a process that does not work on runs."""
    from hermes_acp.app.service_factories import build_session_store
    from hermes_acp.clock import SystemClock
    from hermes_acp.ids import RandomIds
    from hermes_acp.runs.run_service import RunService, cannot_drive

    store = build_session_store(environment)
    return RunService(environment, SystemClock(), RandomIds(), cannot_drive, store.sharing.fetch)
