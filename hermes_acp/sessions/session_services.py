"""The services that the sessions of a process use, each behind a narrow port."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from hermes_acp.agent.turn.turn import Turn, TurnDependencies
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.core.available_options import AvailableModel
from hermes_acp.core.event_types import Mode
from hermes_acp.core.ports.checkpoint_ports import Checkpoints
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.quota_ports import NoQuota, UserQuota
from hermes_acp.core.ports.runtime_ports import Ids
from hermes_acp.core.ports.session_ports import EquippedSession, MovableSession
from hermes_acp.sessions.session_commands import SlashCommands
from hermes_acp.sessions.tool_sources import SharedTools

if TYPE_CHECKING:
    from hermes_acp.hooks.session_hooks import Verdict


class TurnConfiguration(Protocol):
    """The dependencies of turns, and the options that can be chosen for them."""

    async def deps(self) -> TurnDependencies:
        """Return the dependencies of turns. The first call is slow. Raises AuthRequired, ConfigError or ModelError."""
        ...

    def limits(self) -> TurnLimits:
        """Return the limits of a turn. Only valid once `deps` has returned."""
        ...

    async def read_settings(self) -> None:
        """Read the settings unless they were already read. Raises ConfigError."""
        ...

    def default_mode(self) -> Mode:
        """Return the mode that new sessions start in, once the settings have been read."""
        ...

    def models(self) -> tuple[AvailableModel, ...]:
        """Return the models that can be chosen, the configured one first; empty until the settings have been read."""
        ...

    def allows_bypass(self) -> bool:
        """Return whether the user allowed the mode `bypass`, which never asks."""
        ...


class BackendChoice(Protocol):
    """The backends that sessions run on."""

    def backends(self) -> tuple[str, ...]:
        """Return the backends that can be chosen, the configured one first; empty until the settings have been read."""
        ...

    def settle(self, session: MovableSession) -> str:
        """Move the session to its chosen backend; return a note about it for the model. Raises ConfigError."""
        ...


class SessionLifecycle(Protocol):
    """Hooks around sessions: when one is opened, before each turn, and when one is closed."""

    @property
    def exports_traces(self) -> bool:
        """Whether this process exports spans for its turns and calls."""
        ...

    def opened(self, session: EquippedSession) -> None:
        """Set up a session that was just opened; returns at once."""
        ...

    async def before_turn(self, session: EquippedSession, gate: Gate) -> None:
        """Check the contents of the session's workspace and ask the user about untrusted items."""
        ...

    def add_hooks(self, session: EquippedSession, turn: Turn) -> None:
        """Add the session's current hooks to a turn; may be called again."""
        ...

    async def check_prompt(
        self, session: EquippedSession, turn_id: str, prompt: str, clean: Callable[[str], str]
    ) -> "Verdict | None":
        """Run the user's hooks for a prompt, or return None if there are none; `clean` masks secrets."""
        ...

    def news(self) -> Sequence[str]:
        """Return the notices that a user has not been shown yet."""
        ...

    def checkpoints(self, session: EquippedSession) -> Checkpoints | None:
        """Return the store for the changes of a session's turns, or None if there is none. Raises CheckpointError."""
        ...

    async def closed(self, session_id: str) -> None:
        """Close everything that a session's tools have opened."""
        ...


class SessionServices(Struct, frozen=True):
    """The services of one process."""

    configuration: TurnConfiguration
    backends: BackendChoice
    shared_tools: SharedTools
    lifecycle: SessionLifecycle
    commands: SlashCommands
    ids: Ids
    quota: UserQuota = NoQuota()
