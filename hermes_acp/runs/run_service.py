"""The runs of a home folder, for frontends and tools: start, show, answer and drive them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import PermissionAnswer
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
NOTHING_ASKED = "Run {run!r} does not wait for an answer."
ANSWER_WITH_TEXT = "The agent asks for words, not for permission."
ANSWER_HINT = 'Answer with text: hermes-acp runs answer {run} "…"'
UNKNOWN_CALL = "Run {run!r} has no open question about {call!r}."


def cannot_drive(prompts: Prompts) -> Driver:
    """Replace the driver in processes that do not drive runs. Raises BadRequest."""
    raise BadRequest("This process drives no runs.")


class RunWish(Struct, frozen=True):
    """A request for a run: its prompt, folder, settings and limits. Without `id`, a new one is chosen; a second
    request with the same ID changes nothing. Without `session_id`, the run gets a new session. Only workers that
    serve `place` drive it.
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
    """Connects an engine with the sessions and prompts of a home folder."""

    def __init__(
        self,
        environment: Environment,
        clock: Clock,
        ids: Ids,
        make_driver: Callable[[Prompts], Driver],
        find_record: Callable[[str], Awaitable[Path]],
    ) -> None:
        """Prepare; nothing is imported or opened yet. `find_record` returns where a session's record is."""
        self._clock = clock
        self._ids = ids
        self._environment = environment
        self._engine: Engine | None = None
        self._make_driver = make_driver
        self.records = RunRecords(find_record)
        self.is_resident = False
        """Whether this process stays and drives runs."""

    @property
    def engine(self) -> Engine:
        """What keeps the runs, chosen at the first use. Raises ConfigError for settings that cannot be meant."""
        if self._engine is None:
            self._engine = open_engine(self._environment, self._clock)
        return self._engine

    def now(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self._clock.now()

    async def start(self, wish: RunWish, sources: Sequence[str] = (), *, trace_parent: str = "") -> RunView:
        """Start a run; `sources` name what of its prompt others than the user wrote.

        `trace_parent` is the W3C `traceparent` of what starts it.

        Raises BadRequest, StorageError.
        """
        if not wish.prompt.strip():
            raise BadRequest("The prompt of a run is empty.")
        if wish.id and (known := await self.engine.show(wish.id)):
            return known
        run_id = wish.id or self._ids.fresh("run")
        return await self.engine.start(
            RunOrder(
                run_id,
                wish.session_id or self._ids.fresh("ses"),
                await self.engine.prompts.put(wish.prompt, sources),
                wish.cwd,
                mode=wish.mode,
                backend=wish.backend,
                model=wish.model,
                budget=wish.budget,
                priority=wish.priority,
                not_before=wish.not_before,
                origin=wish.origin,
                place=wish.place,
                trace_parent=trace_parent,
            )
        )

    async def add_schedule(
        self,
        wish: RunWish,
        timing: Timing,
        *,
        name: str = "",
        late: tuple[LatePolicy, float] = ("once", 0.0),
        overlap: Overlap = "skip",
    ) -> ScheduleView:
        """Have the clock start runs like `wish`; `late` is a policy with its span. Raises BadRequest, StorageError."""
        if not wish.prompt.strip():
            raise BadRequest("The prompt of a run is empty.")
        template = RunTemplate(
            await self.engine.prompts.put(wish.prompt),
            wish.cwd,
            wish.mode,
            wish.backend,
            wish.model,
            wish.budget,
            wish.priority,
        )
        schedule = Schedule(
            name or f"job-{self._ids.fresh('job')[-6:]}",
            timing,
            template,
            *late,
            overlap,
            self._clock.now(),
            wish.origin,
        )
        return await self.engine.schedules.add(schedule)

    async def prompt_by_name(self, prompt_ref: str) -> str:
        """Return a stored prompt. Raises StorageError."""
        return await self.engine.prompts.get(prompt_ref)

    async def known(self, run_id: str) -> RunView:
        """Return a run by its ID, or by the beginning of one if only one begins so. Raises BadRequest."""
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
        """Return what a run was asked to do. Raises StorageError."""
        return await self.engine.prompts.get(run.order.prompt_ref)

    async def answer(
        self, run_id: str, answer: PermissionAnswer, text: str = "", *, by: str, call_id: str = ""
    ) -> RunView:
        """Answer the open question of a run, or the one about a call. Raises BadRequest, StorageError."""
        return await self.respond(run_id, PermissionResponse(answer, text, by=by), call_id=call_id)

    async def respond(self, run_id: str, response: PermissionResponse, *, call_id: str = "") -> RunView:
        """Answer with what is allowed of a change, too. Raises BadRequest, StorageError."""
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

    def driver(self) -> Driver:
        """Return a driver for the sessions of this process."""
        return self._make_driver(self.engine.prompts)

    async def work(self, *, only: str = "") -> None:
        """Drive runs until it is cancelled; with `only`, one run up to its next rest."""
        await self.engine.work(self.driver(), WorkScope(only))

    async def prune(self, keep_s: float) -> int:
        """Forget runs that ended longer ago than this, with their prompts; return how many. Raises StorageError."""
        before = self._clock.now() - keep_s
        number = await self.engine.prune(before)
        runs = await self.engine.list(RunFilter(limit=MAX_SEARCHED))
        if len(runs) < MAX_SEARCHED:  # otherwise not all prompts in use are known
            templates = [each.schedule.template for each in await self.engine.schedules.list()]
            named = {run.order.prompt_ref for run in runs} | {each.prompt_ref for each in templates}
            await self.engine.prompts.prune(named, before)
        return number

    async def aclose(self) -> None:
        """Close the engine, if it was used."""
        if self._engine:
            await self._engine.aclose()
