"""`runs:` in a settings file."""

from typing import Annotated, Literal

from pydantic import Field

from hermes_acp.config.sections.fleet_settings import FleetSettings
from hermes_acp.config.settings_section import Positive, Section


class RunSettings(Section):
    """Settings for work that continues without a client."""

    keep_days: Annotated[int, Field(ge=1)] | None = 90
    """Days after which the resident process deletes a run that has ended. Its session is kept. `null`: never."""


class BoardsSettings(Section):
    """Boards and the work on their cards."""

    worktrees: str | None = Field(default=None, pattern=r"^/[^\x00-\x1f]*$")
    """Folder for the git worktrees of cards. Default: `~/.local/state/hermes-acp/worktrees`."""
    check_timeout_s: Positive = 1800.0
    """Maximum seconds for each check before a merge."""
    confine_checks: bool = True
    """Whether the checks before a merge run in the sandbox. They run code that an agent wrote."""


class ResidentSettings(Section):
    """Background work of the resident process."""

    daemon: Literal["manual", "auto"] = "manual"
    """With `auto` (on a line of its own), the first editor starts the resident process if it is not running. Otherwise,
    `hermes-acp daemon start` or a service starts it.
    """
    daemon_idle_minutes: Positive = 30.0
    """Idle minutes after which a resident process that an editor started exits. It is idle without clients, turns,
    runs, schedules and notifications to send.
    """
    runs: RunSettings = RunSettings.defaults()
    boards: BoardsSettings = BoardsSettings.defaults()
    fleet: FleetSettings = FleetSettings.defaults()
