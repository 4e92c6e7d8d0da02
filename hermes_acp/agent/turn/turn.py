"""A turn: its state while it runs, and its relation to other turns."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from msgspec import Struct, field, structs

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.loop_guard import LoopGuard
from hermes_acp.agent.turn.running_calls import RunningCalls
from hermes_acp.agent.turn.turn_checkpoints import TurnCheckpoints
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.agent.turn.turn_inbox import Inbox
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_step import TurnStep
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.context.context_monitor import ContextMonitor, NullContextMonitor
from hermes_acp.core.event_types import EventContext, Grant, Mode, Options
from hermes_acp.core.events import AnyEvent, CallProposed, UsageChanged
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import Effort
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.runtime_ports import Clock, Ids, Log
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Proposal, Result
from hermes_acp.core.record.session_record import Record
from hermes_acp.models.routing.fallback_plan import FallbackPlan
from hermes_acp.models.routing.routes import Route, Routing
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.telemetry.redaction import Redactor
from hermes_acp.telemetry.trace_context import TurnTrace, call_trace_parent, trace_below
from hermes_acp.tools.toolbox import Toolbox

MAX_INVALID_STEPS: Final = 3
"""The maximum number of consecutive invalid steps, in which no call could be parsed or there was no answer at all."""


class SystemPrompt(Struct, frozen=True):
    """A session's system prompt, with notices for the user about how it was built.

    `sources` lists the untrusted and private sources in the prompt.
    """

    layers: tuple[str, ...]
    notices: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


class CompactionShares(Struct, frozen=True):
    """Shares of a model's window: the history is compacted from `at` on, and `keep` stays verbatim.

    If `at` is None, the history is compacted only when the endpoint reports that its window is full.
    """

    at: float | None = 0.8
    keep: float = 0.2


class ModelUse(Struct, frozen=True):
    """How a turn uses its models: output tokens per reply, reasoning effort, and shares of the window."""

    max_output_tokens: int | None = None
    effort: Effort | None = None
    shares: CompactionShares = CompactionShares()


class TurnStages(Struct, frozen=True):
    """The stages around the steps of a turn, in order; chosen in `app`.

    `preflight` runs once before everything else; `before_step` and `after_step` run around each step; each of these may
    end the turn. `postflight` runs once when the ending is known, even after a failure or cancellation, unless the
    record cannot be written. `before_call` runs before a call that policy does not deny; each stage returns why the
    call is refused, or "". `after_call` runs after each performed call; each stage returns the result for the model.
    `on_window_full` makes room when an endpoint reports that its window is full, and returns whether it succeeded.
    """

    preflight: tuple["Stage", ...] = ()
    before_step: tuple["Stage", ...] = ()
    after_step: tuple["AfterStepStage", ...] = ()
    postflight: tuple["PostflightStage", ...] = ()
    before_call: tuple["BeforeCallStage", ...] = ()
    after_call: tuple["AfterCallStage", ...] = ()
    on_window_full: "Relief | None" = None


class TurnDependencies(Struct, frozen=True):
    """The dependencies of every turn in this process, chosen in `app`.

    `expenses` logs the usage of calls that belong to no session. `build_prompt` builds a session's prompt; its third
    argument is the outermost session, whose user approves context files.
    """

    routing: Routing
    log: Log
    expenses: Log
    toolbox: Toolbox
    policy: Policy
    stages: TurnStages
    redactor: Redactor
    build_prompt: Callable[[Record, Workspace, Record], Awaitable[SystemPrompt]]
    clock: Clock
    ids: Ids
    model_use: ModelUse = ModelUse()
    context_files: ContextMonitor = NullContextMonitor()

    def for_options(self, options: Options) -> "TurnDependencies":
        """Return the same dependencies with a session's options applied."""
        return structs.replace(
            self,
            routing=self.routing.with_preferred(options.provider, options.model),
            model_use=structs.replace(self.model_use, effort=options.effort),
        )


class TurnOrigin(Struct, frozen=True):
    """Why a turn runs; empty for a turn that a person prompted.

    `delegator` is the turn that delegated a task to it and shares its budget with it; `reflects_on` is the finished
    turn that it reviews. `within` is the call, such as a script, whose nested calls run in the turn; `trace` is its
    trace context. `agents_above` counts the ancestors of a turn whose delegator is in another process.
    """

    delegator: "Turn | None" = None
    reflects_on: "Turn | None" = None
    within: str = ""
    trace: TurnTrace = TurnTrace()
    agents_above: int = 0

    @property
    def parent(self) -> "Turn | None":
        """The turn on whose behalf this one runs, by delegation or reflection."""
        return self.delegator or self.reflects_on


class TurnGuards(Struct):
    """Counters that end a turn without progress: repeated calls, consecutive invalid steps, failed compactions."""

    loops: LoopGuard = field(default_factory=LoopGuard)
    invalid_steps: int = 0
    has_failed_to_compact: bool = False


class TurnCalls(Struct):
    """State shared by all calls of a turn.

    Code that asks a person must hold `asking`, so there is only one question at a time. `awaiting` lists the calls
    whose questions stay open, which suspends the turn. `checkpoints` is None if nothing is stored for an undo.
    """

    running: RunningCalls = field(default_factory=RunningCalls)
    asking: anyio.Lock = field(default_factory=anyio.Lock)
    awaiting: list[str] = field(default_factory=list[str])
    checkpoints: TurnCheckpoints | None = None


class Turn(Struct):
    """One running turn."""

    id: str
    deps: TurnDependencies
    ledger: Ledger
    workspace: Workspace
    gate: Gate
    inbox: Inbox
    limits: TurnLimits
    spent: TurnUsage
    fallback_plan: FallbackPlan
    guards: TurnGuards = field(default_factory=TurnGuards)
    calls: TurnCalls = field(default_factory=TurnCalls)
    origin: TurnOrigin = TurnOrigin()

    @property
    def record(self) -> Record:
        """The state of the session, derived from its events so far."""
        return self.ledger.record

    @property
    def remote_folder(self) -> str:
        """The folder on another machine that contains the session's files; empty if they are on this one."""
        return self.workspace.roots[0] if self.workspace.is_remote and self.workspace.roots else ""

    @property
    def route(self) -> Route:
        """The model that this turn currently uses, and how it is reached."""
        return self.deps.routing.route(self.fallback_plan.route_key.route)

    @property
    def outermost(self) -> "Turn":
        """The turn at the top of the delegation chain; the turn itself if it was not delegated."""
        delegator = self.origin.delegator
        return delegator.outermost if delegator else self

    @property
    def event_context(self) -> EventContext:
        """The context for an event emitted now, in the turn that a person prompted."""
        turn = self.origin.reflects_on or self.outermost
        return EventContext(turn.record.session_id, turn.id, self.deps.clock.now())

    @property
    def depth(self) -> int:
        """The number of this agent's ancestors."""
        delegator = self.origin.delegator
        return delegator.depth + 1 if delegator else self.origin.agents_above

    @property
    def mode(self) -> Mode:
        """The current permission mode; a child agent has that of the session it works for."""
        delegator = self.origin.delegator
        return delegator.mode if delegator else self.record.mode

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The "always" answers that apply here, including those given to this agent's ancestors."""
        delegator = self.origin.delegator
        return (delegator.grants if delegator else ()) + self.record.grants

    def trace_parent_of(self, call_id: str) -> str:
        """Return the `traceparent` that a call passes on, or an empty string if it belongs to no trace."""
        return call_trace_parent(self.origin.trace, self.id, call_id)

    def trace_below(self, call_id: str) -> TurnTrace:
        """Return the trace context for a turn that runs on behalf of one of this turn's calls."""
        return trace_below(self.origin.trace, self.id, call_id)

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Record an event, then show it; return it as recorded."""
        return self.ledger.emit(event)

    def report_usage(self, used_tokens: int, cost_usd: float | None) -> None:
        """Report how full the model's window is; `cost_usd` is added to the session's total."""
        known = [cost for cost in (self.record.usage.cost_usd, cost_usd) if cost is not None]
        total_usd = sum(known) if known else None
        self.emit(UsageChanged(used_tokens, self.route.window_tokens, total_usd))

    def add_cost(self, cost_usd: float | None) -> None:
        """Add a cost that was incurred outside the steps of its turns to the session's total."""
        if cost_usd:
            usage = self.record.usage
            self.emit(structs.replace(usage, cost_usd=(usage.cost_usd or 0.0) + cost_usd))

    def left(self) -> TurnLimits | None:
        """Return the limits less the tokens and money used, or None if either is used up."""
        limits, usage = self.limits, self.spent.usage
        tokens, cost_usd = limits.max_tokens, limits.max_cost_usd
        if tokens is not None:
            tokens -= usage.total_tokens
        if cost_usd is not None:
            cost_usd -= self.spent.cost_usd or 0.0
        if any(each is not None and each <= 0 for each in (tokens, cost_usd)):
            return None
        return structs.replace(limits, max_tokens=tokens, max_cost_usd=cost_usd)


Stage = Callable[[Turn], Awaitable[Ending | None]]
AfterStepStage = Callable[[Turn, TurnStep], Awaitable[Ending | None]]
PostflightStage = Callable[[Turn, Ending], Awaitable[None]]
BeforeCallStage = Callable[[Turn, CallProposed, Proposal], Awaitable[str]]
AfterCallStage = Callable[[Turn, CallProposed, Proposal, Result], Awaitable[Result]]
Relief = Callable[[Turn], Awaitable[bool]]
