"""One turn: from a prompt to a named ending.

Knows: what a turn has at hand, what it may use up, how it can end. Does not know: how it proceeds (`agent.loop`).
"""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from msgspec import Struct, field, structs

from hermes_acp.agent.checkpoints import Safekeeping
from hermes_acp.agent.context_ports import ContextFilesWatch, NoContextFiles
from hermes_acp.agent.inbox import Inbox
from hermes_acp.agent.ledger import Ledger
from hermes_acp.agent.loop_guard import LoopGuard
from hermes_acp.agent.running_calls import RunningCalls
from hermes_acp.core.events import AnyEvent, UsageChanged
from hermes_acp.core.exchanges import Moment
from hermes_acp.core.information_flow import Source
from hermes_acp.core.messages import Effort, ModelReply, Usage
from hermes_acp.core.ports import Clock, Gate, Ids, Log, Workspace
from hermes_acp.core.record import Record
from hermes_acp.core.terms import CallStatus, ExitReason, Grant, Mode, Options
from hermes_acp.models.routes import Route, Routing
from hermes_acp.models.routing import Course
from hermes_acp.policy.rules import Policy
from hermes_acp.telemetry.redaction import Redactor
from hermes_acp.tools.toolbox import Toolbox

KEPT_SHARE: Final = 0.1
MOST_KEPT_S: Final = 30.0
USUAL_CALL_S: Final = 600.0
"""How long a call of a tool may take that names no time itself."""
MOST_STRIKES: Final = 3
"""Steps in a row that gave nothing valid: calls none of which was understood, or no answer at all."""


class Ending(Struct, frozen=True):
    """Why a turn stopped; `sentence` is for the user, empty where there is nothing to explain."""

    reason: ExitReason
    sentence: str = ""
    error_code: str = ""


class Limits(Struct, frozen=True):
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
        return self.timeout_s - min(self.timeout_s * KEPT_SHARE, MOST_KEPT_S)

    def call_s(self, wanted_s: float | None, passed_s: float) -> float:
        """Give how long a call may take that wants so much, `passed_s` after the turn began."""
        longest_s = min(USUAL_CALL_S if wanted_s is None else wanted_s, self.tool_timeout_s)
        return longest_s if self.working_s is None else max(0.0, min(longest_s, self.working_s - passed_s))


class Briefing(Struct, frozen=True):
    """The system prompt of a session, and what the user should know of how it came about.

    `sources` are the untrusted and private sources among what the prompt holds.
    """

    layers: tuple[str, ...]
    notices: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


class Outcome(Struct, frozen=True):
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


class Step(Struct, frozen=True):
    """One answer of the model with the outcomes of its calls, in their order."""

    reply: ModelReply
    outcomes: tuple[Outcome, ...] = ()


class Shares(Struct, frozen=True):
    """Parts of a model's window: from `at` in use on the history is compacted, `keep` of it stays word for word.

    `at` None leaves it to the endpoint to say that its window is full.
    """

    at: float | None = 0.8
    keep: float = 0.2


class Stages(Struct, frozen=True):
    """What happens around the steps of a turn, in order; chosen in `assembly`.

    `preflight` runs once before everything, `before_step` and `after_step` around each step; each may end the turn.
    `postflight` runs once, when it is known how the turn ended, also after a failure or a cancel; only a record that
    cannot be written leaves it out. `relief` makes room when an endpoint says that its window is full, and tells
    whether it could.
    """

    preflight: tuple["Stage", ...] = ()
    before_step: tuple["Stage", ...] = ()
    after_step: tuple["Check", ...] = ()
    postflight: tuple["Closing", ...] = ()
    relief: "Relief | None" = None


class Kit(Struct, frozen=True):
    """What every turn of this process uses alike; chosen in `assembly`.

    `expenses` is where the usage of calls is written that belong to no session. `brief` writes a session's prompt; its
    third argument is the outermost session, whose user approves context files.
    """

    routing: Routing
    log: Log
    expenses: Log
    toolbox: Toolbox
    policy: Policy
    stages: Stages
    redactor: Redactor
    brief: Callable[[Record, Workspace, Record], Awaitable[Briefing]]
    max_output_tokens: int | None = None
    effort: Effort | None = None
    shares: Shares = Shares()
    context_files: ContextFilesWatch = NoContextFiles()

    def for_options(self, options: Options) -> "Kit":
        """Give the same kit for what a session's user chose."""
        routing = self.routing.preferring(options.provider, options.model)
        return structs.replace(self, routing=routing, effort=options.effort)


class Spent:
    """What a turn has used so far, its child agents included; `cost_usd` is None while no step had a price."""

    def __init__(self, started_at_s: float, superior: "Spent | None" = None) -> None:
        self._superior = superior
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
        if self._superior:
            self._superior._count()

    def charge(self, usage: Usage, cost_usd: float | None) -> None:
        """Count what was used beside the steps."""
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd
        self.usage += usage
        if self._superior:
            self._superior.charge(usage, cost_usd)

    def give_back(self) -> None:
        """Count the last step as not taken."""
        self.refunds += 1
        if self._superior:
            self._superior.give_back()


class Turn(Struct):
    """One running turn; that of a child agent has a `superior`, for whose call it works.

    Whoever puts a question to a person in it holds `asking`: there is one at a time. `within` is the call for which
    further calls are made in it, if they are.
    """

    id: str
    kit: Kit
    ledger: Ledger
    workspace: Workspace
    gate: Gate
    inbox: Inbox
    limits: Limits
    spent: Spent
    clock: Clock
    ids: Ids
    course: Course
    guard: LoopGuard = field(default_factory=LoopGuard)
    strikes: int = 0
    has_failed_to_compact: bool = False
    running: RunningCalls = field(default_factory=RunningCalls)
    asking: anyio.Lock = field(default_factory=anyio.Lock)
    superior: "Turn | None" = None
    within: str = ""
    safekeeping: Safekeeping | None = None
    looks_back_at: "Turn | None" = None

    @property
    def record(self) -> Record:
        """The session as its events so far tell it."""
        return self.ledger.record

    @property
    def far_folder(self) -> str:
        """The folder that a session works in on another machine, where its files are; empty where they are here."""
        return self.workspace.roots[0] if self.workspace.is_far and self.workspace.roots else ""

    @property
    def route(self) -> Route:
        """The model this turn is asking now, and how it is reached."""
        return self.kit.routing.route(self.course.way.route)

    @property
    def outermost(self) -> "Turn":
        """The turn that all others work for, itself where it is one of no child agent."""
        return self.superior.outermost if self.superior else self

    @property
    def moment(self) -> Moment:
        """Now, in the turn that what is done here belongs to."""
        turn = self.looks_back_at or self.outermost
        return Moment(turn.record.session_id, turn.id, self.clock.now())

    @property
    def depth(self) -> int:
        """How many agents stand above this one."""
        return self.superior.depth + 1 if self.superior else 0

    @property
    def mode(self) -> Mode:
        """What needs asking now; a child agent's mode is that of the session it works for."""
        return self.superior.mode if self.superior else self.record.mode

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The standing answers that hold here, those given to whoever stands above included."""
        above = self.superior.grants if self.superior else ()
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

    def left(self) -> Limits | None:
        """Give what it has not used of its tokens and money; None where one of them is used up."""
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
Check = Callable[[Turn, Step], Awaitable[Ending | None]]
Closing = Callable[[Turn, Ending], Awaitable[None]]
Relief = Callable[[Turn], Awaitable[bool]]
