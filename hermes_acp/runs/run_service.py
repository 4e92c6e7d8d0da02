"""The runs of a home folder, for frontends and tools: start, show, answer and work on them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.ports.child_ports import DelegatedWork, ParentAgent
from hermes_acp.core.ports.gate_ports import PermissionResponse
from hermes_acp.core.ports.run_ports import (
    DEFAULT_PRIORITY,
    Driver,
    RunBudget,
    RunFilter,
    RunMessage,
    RunOrder,
    RunView,
    WorkScope,
)
from hermes_acp.core.ports.runtime_ports import Clock, Ids
from hermes_acp.core.ports.schedule_ports import (
    Engine,
    LatePolicy,
    Overlap,
    Prompts,
    RunTemplate,
    Schedule,
    ScheduleView,
    Timing,
)
from hermes_acp.runs.engine_choice import open_engine
from hermes_acp.runs.run_records import RunRecords

MAX_SEARCHED = 10_000
MAX_NAMED = 5
NOTHING_ASKED = "Run {run!r} is not waiting for an answer."
ANSWER_WITH_TEXT = "The agent asked for text, not for permission."
ANSWER_HINT = 'Answer with text: hermes-acp runs answer {run} "…"'
UNKNOWN_CALL = "Run {run!r} has no open question about {call!r}."


DelegatedRun = tuple[DelegatedWork, ParentAgent]
"""The work of a child agent in this process, and its parent."""


def cannot_drive(prompts: Prompts, delegated: DelegatedRun | None) -> Driver:
    """Stand in for the driver in processes that do not work on runs. Raises BadRequest."""
    raise BadRequest("This process does not work on runs.")


class RunRequest(Struct, frozen=True):
    """A request for a run: its prompt, folder, settings and limits. Without `id`, one is generated.

    A second request with the same ID changes nothing. Without `session_id`, the run gets a new session. Only workers
    that serve `place` work on it.
    """

    prompt: str
    cwd: str
    id: str = ""
    session_id: str = ""
    mode: str = ""
    backend: str = ""
    model: str = ""
    budget: RunBudget = RunBudget()
    priority: int = DEFAULT_PRIORITY
    not_before: float = 0.0
    origin: str = ""
    place: str = ""


class RunService:
    """Connects an engine to the sessions and prompts of a home folder."""

    def __init__(
        self,
        environment: Environment,
        clock: Clock,
        ids: Ids,
        make_driver: Callable[[Prompts, DelegatedRun | None], Driver],
        find_record: Callable[[str], Awaitable[Path]],
    ) -> None:
        """Store the arguments; nothing is imported or opened yet.

        `find_record` returns the path of a session's record.
        """
        self._clock = clock
        self._ids = ids
        self._environment = environment
        self._engine: Engine | None = None
        self._make_driver = make_driver
        self.records = RunRecords(find_record)
        self.is_resident = False
        """Whether this process stays resident and works on runs."""

    @property
    def engine(self) -> Engine:
        """The engine that stores the runs, chosen on first use. Raises ConfigError for invalid settings."""
        if self._engine is None:
            self._engine = open_engine(self._environment, self._clock)
        return self._engine

    def now(self) -> float:
        """Return the current time, in seconds since the epoch."""
        return self._clock.now()

    async def start(
        self, request: RunRequest, sources: Sequence[str] = (), *, trace_parent: str = ""
    ) -> RunView:
        """Start a run.

        `sources` lists where the parts of its prompt not written by the user come from. `trace_parent` is the caller's
        W3C `traceparent`. Raises BadRequest or StorageError.
        """
        if not request.prompt.strip():
            raise BadRequest("The prompt of a run is empty.")
        if request.id and (known := await self.engine.show(request.id)):
            return known
        run_id = request.id or self._ids.fresh("run")
        return await self.engine.start(
            RunOrder(
                run_id,
                request.session_id or self._ids.fresh("ses"),
                await self.engine.prompts.put(request.prompt, sources),
                request.cwd,
                mode=request.mode,
                backend=request.backend,
                model=request.model,
                budget=request.budget,
                priority=request.priority,
                not_before=request.not_before,
                origin=request.origin,
                place=request.place,
                trace_parent=trace_parent,
            )
        )

    async def add_schedule(
        self,
        request: RunRequest,
        timing: Timing,
        *,
        name: str = "",
        late: tuple[LatePolicy, float] = ("once", 0.0),
        overlap: Overlap = "skip",
    ) -> ScheduleView:
        """Start runs like `request` on a schedule; `late` is a policy and its limit.

        Raises BadRequest or StorageError.
        """
        if not request.prompt.strip():
            raise BadRequest("The prompt of a run is empty.")
        template = RunTemplate(
            await self.engine.prompts.put(request.prompt),
            request.cwd,
            request.mode,
            request.backend,
            request.model,
            request.budget,
            request.priority,
        )
        schedule = Schedule(
            name or f"job-{self._ids.fresh('job')[-6:]}",
            timing,
            template,
            *late,
            overlap,
            self._clock.now(),
            request.origin,
        )
        return await self.engine.schedules.add(schedule)

    async def prompt_by_name(self, prompt_ref: str) -> str:
        """Return a stored prompt. Raises StorageError."""
        return await self.engine.prompts.get(prompt_ref)

    async def known(self, run_id: str) -> RunView:
        """Return the run with an ID or with a unique prefix of an ID. Raises BadRequest."""
        if view := await self.engine.show(run_id):
            return view
        found = [
            each
            for each in await self.engine.list(RunFilter(limit=MAX_SEARCHED))
            if run_id and each.order.id.startswith(run_id)
        ]
        if len(found) != 1:
            named = ", ".join(each.order.id for each in found[:MAX_NAMED])
            message = (
                f"Several runs begin with {run_id!r}: {named}." if found else f"There is no run {run_id!r}."
            )
            raise BadRequest(message, hint="List the runs: hermes-acp runs list --all")
        return found[0]

    async def prompt_of(self, run: RunView) -> str:
        """Return a run's prompt. Raises StorageError."""
        return await self.engine.prompts.get(run.order.prompt_ref)

    async def answer(
        self, run_id: str, answer: PermissionAnswer, text: str = "", *, by: str, call_id: str = ""
    ) -> RunView:
        """Answer the open question of a run, or the question about a particular call.

        Raises BadRequest or StorageError.
        """
        return await self.respond(run_id, PermissionResponse(answer, text, by=by), call_id=call_id)

    async def respond(self, run_id: str, response: PermissionResponse, *, call_id: str = "") -> RunView:
        """Answer with a response that may allow only parts of a change. Raises BadRequest or StorageError."""
        from hermes_acp.runs.open_questions import digest_of

        run = await self.known(run_id)
        questions = await self.records.questions_of(run)
        if not questions:
            raise BadRequest(NOTHING_ASKED.format(run=run_id), hint=f"It is {run.state.replace('_', ' ')}.")
        asked = next((each for each in questions if call_id in ("", each.card.call_id)), None)
        if asked is None:
            raise BadRequest(UNKNOWN_CALL.format(run=run_id, call=call_id))
        is_allowed = response.answer.startswith("allow")
        if asked.is_for_text and is_allowed and not (response.comment or asked.asks.url):
            raise BadRequest(ANSWER_WITH_TEXT, hint=ANSWER_HINT.format(run=run_id))
        message = RunMessage(
            asked.card.call_id,
            response.answer,
            response.comment,
            by=response.by,
            at=self._clock.now(),
            shown=digest_of(asked.card),
            texts=dict(response.texts),
            left_out=dict(response.left_out),
        )
        return await self.engine.signal(run_id, message)

    def driver(self, delegated: DelegatedRun | None = None) -> Driver:
        """Return a driver for the sessions of this process, or for the session of a child agent."""
        return self._make_driver(self.engine.prompts, delegated)

    async def work(self, *, only: str = "") -> None:
        """Work on runs until cancelled; with `only`, work on one run until it ends or is suspended."""
        await self.engine.work(self.driver(), WorkScope(only))

    async def prune(self, keep_s: float) -> int:
        """Delete runs that ended more than `keep_s` seconds ago, with their prompts; return how many.

        Raises StorageError.
        """
        before = self._clock.now() - keep_s
        number = await self.engine.prune(before)
        runs = await self.engine.list(RunFilter(limit=MAX_SEARCHED))
        if len(runs) < MAX_SEARCHED:  # otherwise, not all prompts in use are known
            templates = [each.schedule.template for each in await self.engine.schedules.list()]
            named = {run.order.prompt_ref for run in runs} | {each.prompt_ref for each in templates}
            await self.engine.prompts.prune(named, before)
        return number

    async def aclose(self) -> None:
        """Close the engine if it was used."""
        if self._engine:
            await self._engine.aclose()
