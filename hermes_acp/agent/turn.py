"""One turn: from a prompt to a named ending.

Knows: what a turn has at hand, what it may use up, how it can end. Does not know: how it proceeds (`agent.loop`).
"""

from collections.abc import Awaitable, Callable

from msgspec import Struct, structs

from hermes_acp.agent.inbox import Inbox
from hermes_acp.agent.ledger import Ledger
from hermes_acp.core.events import AnyEvent, ExitReason
from hermes_acp.core.messages import Usage
from hermes_acp.core.ports import Clock, Gate, Ids, ModelFacts, Provider, Workspace
from hermes_acp.core.record import Record
from hermes_acp.models import catalog
from hermes_acp.policy.rules import Policy
from hermes_acp.telemetry.redaction import Redactor
from hermes_acp.tools.toolbox import Toolbox


class Ending(Struct, frozen=True):
    """Why a turn stopped; `sentence` is for the user, empty where there is nothing to explain."""

    reason: ExitReason
    sentence: str = ""
    error_code: str = ""


class Limits(Struct, frozen=True):
    """What one turn may use; None is no limit."""

    max_steps: int = 100
    max_cost_usd: float | None = None
    timeout_s: float | None = None


class Patience(Struct, frozen=True):
    """How often a step is tried, and how long to wait between tries, in seconds."""

    attempts: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0

    def wait_s(self, attempt: int, wished_s: float | None) -> float:
        """Give the wait before try `attempt` + 1: the endpoint's own wish within reason, else doubling."""
        if wished_s is not None:
            return min(wished_s, self.longest_wait_s)
        return min(self.first_wait_s * 2 ** (attempt - 1), self.longest_wait_s)


class Briefing(Struct, frozen=True):
    """The system prompt of a session, and what the user should know of how it came about."""

    layers: tuple[str, ...]
    notices: tuple[str, ...] = ()


class Kit(Struct, frozen=True):
    """What every turn of this process uses alike; chosen in `assembly`."""

    provider: Provider
    model: str
    facts: ModelFacts
    toolbox: Toolbox
    policy: Policy
    patience: Patience
    stages: tuple["Stage", ...]
    redactor: Redactor
    brief: Callable[[str], Awaitable[Briefing]]
    max_output_tokens: int | None = None

    def with_model(self, model: str) -> "Kit":
        """Give the same kit for another model of the same endpoint; an empty name is the configured one."""
        if model in ("", self.model):
            return self
        return structs.replace(self, model=model, facts=catalog.facts_of(model, self.provider.name))


class Spent:
    """What a turn has used so far."""

    def __init__(self, started_at_s: float) -> None:
        self.started_at_s = started_at_s
        self.steps = 0
        self.cost_usd = 0.0
        self.usage = Usage()

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Count one step."""
        self.steps += 1
        self.cost_usd += cost_usd or 0.0
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
            self.usage.cached_tokens + usage.cached_tokens,
        )


class Turn(Struct):
    """One running turn."""

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

    @property
    def record(self) -> Record:
        """The session as its events so far tell it."""
        return self.ledger.record

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Record an event, then show it; give it as it was recorded."""
        return self.ledger.emit(event)


Stage = Callable[[Turn], Awaitable[Ending | None]]
