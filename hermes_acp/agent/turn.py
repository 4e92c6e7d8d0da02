"""One turn: from a prompt to a named ending.

Knows: what a turn has at hand, what it may use up, how it can end. Does not know: how it proceeds (`agent.loop`).
"""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from msgspec import Struct, field, structs

from hermes_acp.agent.ledger import Ledger
from hermes_acp.agent.loop_guard import LoopGuard
from hermes_acp.agent.running_calls import RunningCalls
from hermes_acp.agent.turn_checkpoints import TurnCheckpoints
from hermes_acp.agent.turn_inbox import Inbox
from hermes_acp.context.context_monitor import ContextMonitor, NullContextMonitor
from hermes_acp.core.event_types import CallStatus, ExitReason, Grant, Mode, Options
from hermes_acp.core.events import AnyEvent, UsageChanged
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import Effort, ModelReply, Usage
from hermes_acp.core.port_types import EventContext
from hermes_acp.core.ports import Clock, Gate, Ids, Log, Workspace
from hermes_acp.core.record import Record
from hermes_acp.models.routes import Route, Routing
from hermes_acp.models.routing import FallbackPlan
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.telemetry.redaction import Redactor
from hermes_acp.tools.toolbox import Toolbox

FINAL_ANSWER_SHARE: Final = 0.1
MAX_FINAL_ANSWER_S: Final = 30.0
DEFAULT_CALL_TIMEOUT_S: Final = 600.0
"""How long a call of a tool may take that names no time itself."""
MAX_INVALID_STEPS: Final = 3
"""Steps in a row that gave nothing valid: calls none of which was understood, or no answer at all."""


class Ending(Struct, frozen=True):
    """Why a turn stopped; `sentence` is for the user, empty where there is nothing to explain."""

    reason: ExitReason
    sentence: str = ""
    error_code: str = ""


class TurnLimits(Struct, frozen=True):
    """What one turn may use; None is no limit.

    `max_tokens` counts what is sent and answered, cached or not, over all steps. `max_refunds` is how many steps that
    made only cheap calls are given back. `tool_timeout_s` is the longest that one call may take, `question_timeout_s`
    the wait for a person's answer.
    """

    max_steps: int | None = 100
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    timeout_s: float | None = None
    max_refunds: int = 20
    tool_timeout_s: float = 3600.0
    question_timeout_s: float | None = None

    @property
    def working_s(self) -> float | None:
        """The time of a turn without that which is kept for its last answer: a tenth of it, half a minute at most."""
        if self.timeout_s is None:
            return None
        return self.timeout_s - min(self.timeout_s * FINAL_ANSWER_SHARE, MAX_FINAL_ANSWER_S)

    def call_s(self, wanted_s: float | None, passed_s: float) -> float:
        """Return how long a call may take that wants so much, `passed_s` after the turn began."""
        longest_s = min(DEFAULT_CALL_TIMEOUT_S if wanted_s is None else wanted_s, self.tool_timeout_s)
        return longest_s if self.working_s is None else max(0.0, min(longest_s, self.working_s - passed_s))


class SystemPrompt(Struct, frozen=True):
    """The system prompt of a session, and what the user should know of how it came about.

    `sources` are the untrusted and private sources among what the prompt holds.
    """

    layers: tuple[str, ...]
    notices: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


class CallOutcome(Struct, frozen=True):
    """What came of one call, as the stages after a step see it.

    `call` is the tool and its arguments in one spelling, so that equal calls are equal. Of a call that was not
    understood, or that repeats another of its step, nothing was carried out.
    """

    name: str
    call: str
    status: CallStatus
    text: str
    is_understood: bool = False
    is_cheap: bool = False
    is_repeat: bool = False


class TurnStep(Struct, frozen=True):
    """One answer of the model with the outcomes of its calls, in their order."""

    reply: ModelReply
    outcomes: tuple[CallOutcome, ...] = ()


class CompactionShares(Struct, frozen=True):
    """Parts of a model's window: from `at` in use on the history is compacted, `keep` of it stays word for word.

    `at` None leaves it to the endpoint to say that its window is full.
    """

    at: float | None = 0.8
    keep: float = 0.2


class TurnStages(Struct, frozen=True):
    """What happens around the steps of a turn, in order; chosen in `agent/setup/turn_stages.py`.

    `preflight` runs once before everything, `before_step` and `after_step` around each step; each may end the turn.
    `postflight` runs once, when it is known how the turn ended, also after a failure or a cancel; only a record that
    cannot be written leaves it out. `relief` makes room when an endpoint says that its window is full, and tells
    whether it could.
    """

    preflight: tuple["Stage", ...] = ()
    before_step: tuple["Stage", ...] = ()
    after_step: tuple["AfterStepStage", ...] = ()
    postflight: tuple["PostflightStage", ...] = ()
    relief: "Relief | None" = None


class TurnDependencies(Struct, frozen=True):
    """What every turn of this process uses alike; made in `agent/setup/turn_dependencies.py`.

    `expenses` is where the usage of calls is written that belong to no session. `build_prompt` writes a session's
    prompt; its
    third argument is the outermost session, whose user approves context files.
    """

    routing: Routing
    log: Log
    expenses: Log
    toolbox: Toolbox
    policy: Policy
    stages: TurnStages
    redactor: Redactor
    build_prompt: Callable[[Record, Workspace, Record], Awaitable[SystemPrompt]]
    max_output_tokens: int | None = None
    effort: Effort | None = None
    shares: CompactionShares = CompactionShares()
    context_files: ContextMonitor = NullContextMonitor()

    def for_options(self, options: Options) -> "TurnDependencies":
        """Return the same kit for what a session's user chose."""
        routing = self.routing.with_preferred(options.provider, options.model)
        return structs.replace(self, routing=routing, effort=options.effort)


class TurnUsage:
    """What a turn has used so far, its child agents included; `cost_usd` is None while no step had a price."""

    def __init__(self, started_at_s: float, delegator: "TurnUsage | None" = None) -> None:
        self._delegator = delegator
        self.started_at_s = started_at_s
        self.steps = 0
        self.refunds = 0
        self.cost_usd: float | None = None
        self.usage = Usage()

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Count one step."""
        self.charge(usage, cost_usd)
        self._count()

    def _count(self) -> None:
        self.steps += 1
        if self._delegator:
            self._delegator._count()

    def charge(self, usage: Usage, cost_usd: float | None) -> None:
        """Count what was used beside the steps."""
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd
        self.usage += usage
        if self._delegator:
            self._delegator.charge(usage, cost_usd)

    def count_refund(self) -> None:
        """Count the last step as not taken."""
        self.refunds += 1
        if self._delegator:
            self._delegator.count_refund()


class Turn(Struct):
    """One running turn; that of a child agent has a `delegator`, for whose call it works.

    Whoever puts a question to a person in it holds `asking`: there is one at a time. `within` is the call for which
    further calls are made in it, if they are.
    """

    id: str
    deps: TurnDependencies
    ledger: Ledger
    workspace: Workspace
    gate: Gate
    inbox: Inbox
    limits: TurnLimits
    spent: TurnUsage
    clock: Clock
    ids: Ids
    fallback_plan: FallbackPlan
    guard: LoopGuard = field(default_factory=LoopGuard)
    invalid_steps: int = 0
    has_failed_to_compact: bool = False
    running: RunningCalls = field(default_factory=RunningCalls)
    asking: anyio.Lock = field(default_factory=anyio.Lock)
    delegator: "Turn | None" = None
    within: str = ""
    turn_checkpoints: TurnCheckpoints | None = None
    reflects_on: "Turn | None" = None

    @property
    def record(self) -> Record:
        """The session as its events so far tell it."""
        return self.ledger.record

    @property
    def remote_folder(self) -> str:
        """The folder that a session works in on another machine, where its files are; empty where they are here."""
        return self.workspace.roots[0] if self.workspace.is_remote and self.workspace.roots else ""

    @property
    def route(self) -> Route:
        """The model this turn is asking now, and how it is reached."""
        return self.deps.routing.route(self.fallback_plan.route_key.route)

    @property
    def outermost(self) -> "Turn":
        """The turn that all others work for, itself where it is one of no child agent."""
        return self.delegator.outermost if self.delegator else self

    @property
    def event_context(self) -> EventContext:
        """Now, in the turn that what is done here belongs to."""
        turn = self.reflects_on or self.outermost
        return EventContext(turn.record.session_id, turn.id, self.clock.now())

    @property
    def depth(self) -> int:
        """How many agents stand above this one."""
        return self.delegator.depth + 1 if self.delegator else 0

    @property
    def mode(self) -> Mode:
        """What needs asking now; a child agent's mode is that of the session it works for."""
        return self.delegator.mode if self.delegator else self.record.mode

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The standing answers that hold here, those given to whoever stands above included."""
        above = self.delegator.grants if self.delegator else ()
        return above + self.record.grants

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Record an event, then show it; give it as it was recorded."""
        return self.ledger.emit(event)

    def tell_usage(self, used_tokens: int, cost_usd: float | None) -> None:
        """Tell how full the model's window is now; what was just spent comes on top of the session's total."""
        known = [cost for cost in (self.record.usage.cost_usd, cost_usd) if cost is not None]
        total_usd = sum(known) if known else None
        self.emit(UsageChanged(used_tokens, self.route.facts.window_tokens, total_usd))

    def bill(self, cost_usd: float | None) -> None:
        """Add to the total of the session what was spent beside the steps of its turns."""
        if cost_usd:
            usage = self.record.usage
            self.emit(structs.replace(usage, cost_usd=(usage.cost_usd or 0.0) + cost_usd))

    def left(self) -> TurnLimits | None:
        """Return what it has not used of its tokens and money; None where one of them is used up."""
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
Relief = Callable[[Turn], Awaitable[bool]]
