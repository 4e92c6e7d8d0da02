"""A turn with a journal, a clock and a workspace in memory."""

from collections.abc import Mapping
from typing import Any, Final

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn import SystemPrompt, Turn, TurnDependencies, TurnStages
from hermes_acp.agent.turn.turn_inbox import Inbox
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import AnyEvent, CallProposed, Event, SessionOpened, TurnStarted, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.ports.model_ports import ModelInfo, Provider
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.record.session_record import Record
from hermes_acp.models.routing.fallback_plan import Cooldowns, RetryPolicy
from hermes_acp.models.routing.routes import Route, Routing
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.telemetry.redaction import Redactor
from hermes_acp.tools.toolbox import Toolbox
from tests.conversations.app_scene import SequentialIds
from tests.conversations.scripted_provider import ScriptedProvider
from tests.unit.tools.tool_calling import MemoryWorkspace

BUILT_IN: Final = (
    "apply_patch",
    "ask_user",
    "edit_file",
    "git",
    "glob",
    "list_files",
    "notebook_edit",
    "plan",
    "read_file",
    "search",
    "terminal",
    "write_file",
)


class ManualClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.at_s = 100.0

    def now(self) -> float:
        return self.at_s

    def monotonic(self) -> float:
        return self.at_s


class MemoryJournal:
    """Events in a list; the disk is full from the event `is_full_at` on."""

    def __init__(self, is_full_at: type[Event] | None = None) -> None:
        self.events: list[Event] = []
        self.settled = 0
        self._is_full_at = is_full_at
        self._trouble: StorageError | None = None

    def append(self, event: AnyEvent) -> AnyEvent:
        if self._is_full_at and isinstance(event, self._is_full_at):
            self._trouble = StorageError("The disk is full.")
        if self._trouble:
            raise self._trouble
        self.events.append(event)
        return event

    async def settle(self) -> None:
        self.settled = len(self.events)


class Watcher:
    """An observer that records how many events were recorded whenever it was shown one."""

    def __init__(self, journal: MemoryJournal) -> None:
        self.shown: list[Event] = []
        self.was_recorded: list[bool] = []
        self._journal = journal

    def show(self, event: Event) -> None:
        self.shown.append(event)
        self.was_recorded.append(event in self._journal.events)

    async def drained(self) -> None:
        return


class AllowingGate:
    """A permission gate that allows everything and counts the questions."""

    def __init__(self) -> None:
        self.asked: list[CallProposed] = []

    async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
        self.asked.append(call)
        return "allow_once"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        return Reply("answered", f"{call_id}: yes")


class MemoryLog:
    """Log lines in a list."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, str | float | None]]] = []

    def note(self, what: str, **facts: str | float | None) -> None:
        self.lines.append((what, facts))


async def build_empty_prompt(record: Record, workspace: Workspace, above: Record) -> SystemPrompt:
    return SystemPrompt((record.cwd,))


def routing_to(provider: ScriptedProvider, clock: ManualClock) -> Routing:
    """Return the routing of a turn with a single model."""
    return routing_among({"scripted": provider}, clock)


def routing_among(
    providers: Mapping[str, ScriptedProvider],
    clock: ManualClock,
    *,
    keys: tuple[str, ...] = ("",),
    retry_policy: RetryPolicy | None = None,
    window_tokens: int = 1000,
) -> Routing:
    """Return the routing of a turn with a model at each provider, the first in use; each has all the keys."""

    def route_to(name: str, model: str) -> Route:
        async def connect(key: str) -> Provider:
            providers[name].keys.append(key)
            return providers[name]

        facts = ModelInfo(window_tokens=window_tokens, input_usd=1.0, output_usd=2.0)
        return Route(name, model, facts, connect, keys, ("low", "high"))

    routes = tuple(route_to(name, f"{name}-1") for name in providers)
    retry_policy = retry_policy or RetryPolicy(attempts=3, first_wait_s=0.0)
    return Routing(routes, Cooldowns(clock.monotonic), route_to, lambda: 0.0, retry_policy)


def open_turn(
    provider: ScriptedProvider,
    journal: MemoryJournal,
    workspace: Workspace | None = None,
    *,
    stages: TurnStages | None = None,
    limits: TurnLimits | None = None,
    tools: Mapping[str, Any] | None = None,
    routing: Routing | None = None,
) -> Turn:
    """Open a turn in which the user has just sent a prompt."""
    plugin_folder: PluginFolder[Any] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    clock = ManualClock()
    deps = TurnDependencies(
        routing=routing or routing_to(provider, clock),
        log=MemoryLog(),
        expenses=MemoryLog(),
        toolbox=Toolbox({name: plugin_folder.open(name) for name in BUILT_IN} if tools is None else tools),
        policy=Policy("/home/me/.hermes"),
        stages=stages or TurnStages(),
        redactor=Redactor(()),
        build_prompt=build_empty_prompt,
        clock=clock,
        ids=SequentialIds(provider.call_names),
    )
    ledger = Ledger(journal, Record())
    ledger.emit(SessionOpened("ses_1", "/project", ("/project",), 1.0))
    ledger.emit(TurnStarted("turn_1"))
    ledger.emit(UserSaid("msg_0", (TextPart("go"),)))
    return Turn(
        "turn_1",
        deps,
        ledger,
        workspace or MemoryWorkspace(),
        AllowingGate(),
        Inbox(),
        limits or TurnLimits(),
        TurnUsage(clock.monotonic()),
        deps.routing.fallback_plan(),
    )
