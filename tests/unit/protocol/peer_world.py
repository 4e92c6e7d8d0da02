"""A connection, its handler and a manual far end, controlled step by step by a state machine."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
from msgspec import Raw
from peer_far import PIECE_BYTES as BUFFER_BYTES
from peer_far import FarSide
from peer_ledger import FAILURE, SECRET, Id, Ledger

from hermes_protocol.connection import Connection, IncomingRequest, Limits
from hermes_protocol.envelope import encode_notification
from hermes_protocol.errors import PeerError, PeerGone
from hermes_protocol.transport import memory_pair

WAIT_S = 60
TURNS = 20
LIMITS = Limits(
    in_flight=3, high_water_bytes=600, low_water_bytes=200, stop_reading_bytes=4000, flush_s=WAIT_S
)
UPDATE_BYTES = len(encode_notification("update", {"n": 10}))
STREAM_UPDATES = 60


class Waiting:
    """A call that the handler holds until the state machine releases it."""

    def __init__(self, call_id: Id, token: int) -> None:
        self.id = call_id
        self.token = token
        self.ending = "result"
        self.release = anyio.Event()


class OwnCall:
    """One call of the connection's side."""

    def __init__(self, number: int, timeout_s: float | None) -> None:
        self.number = number
        self.timeout_s = timeout_s
        self.scope = anyio.CancelScope()
        self.outcome: object = None


class World:
    """Everything around one connection; steps are coroutines, and the ledger checks the messages."""

    def __init__(self) -> None:
        near, far = memory_pair(BUFFER_BYTES)
        self.ledger = Ledger(LIMITS.in_flight)
        self.far = FarSide(far, self.ledger)
        self.connection = Connection(near, self, on_bug=self.take_bug, limits=LIMITS)
        self.waiting: dict[int, Waiting] = {}
        self.own_calls: list[OwnCall] = []
        self.streamed: dict[int, int] = {}
        self._questions = 0
        self._running = 0
        self._updates = 0
        self._slow_notes = anyio.Event()
        self.is_note_going_on = False
        self._tasks: anyio.abc.TaskGroup | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Run everything; leaving waits for every task, with a limit, and cancels none."""
        async with anyio.create_task_group() as self._tasks:
            for task in (self.connection.run, self.far.write, self.far.read):
                self._tasks.start_soon(task)
            yield
            self._tasks.cancel_scope.deadline = anyio.current_time() + WAIT_S
        if self._tasks.cancel_scope.cancelled_caught:
            raise TimeoutError("a task was left over")

    async def settle(self) -> None:
        """Let all tasks run until all are idle."""
        seen = None
        while seen != self._progress():
            seen = self._progress()
            for _ in range(TURNS):
                await anyio.lowlevel.checkpoint()

    def _progress(self) -> tuple[int, ...]:
        ended = sum(call.outcome is not None for call in self.own_calls)
        return (
            self.far.moves,
            self._updates,
            self.ledger.notes_taken,
            len(self.ledger.outcomes),
            len(self.waiting),
            ended,
        )

    # The handler under the connection.

    async def request(self, call: IncomingRequest) -> object:
        token: int = json.loads(bytes(call.params))["token"]
        self._running += 1
        self.ledger.check(self._running <= LIMITS.in_flight, "more requests run than may")
        try:
            ending = await self._serve(call, token)
        except PeerError as error:
            self.ledger.outcomes[token] = error.code
            raise
        finally:
            self._running -= 1
        self.ledger.outcomes[token] = FAILURE if ending == "fail" else ending
        if ending == "fail":
            raise PeerError(FAILURE, "no")
        if ending == "break":
            raise ValueError(SECRET)
        return {"token": token, "updates": self._updates if call.method == "stream" else 0}

    async def _serve(self, call: IncomingRequest, token: int) -> str:
        if call.method == "stream":
            await self._stream()
        elif call.method == "ask":
            self._questions += 1
            await self.connection.request("ask", {"n": self._questions}, str)
        elif call.method == "wait":
            return await self._hold(call, token)
        elif call.method == "stubborn":
            with anyio.CancelScope(shield=True):
                return await self._hold(call, token)
        return "result"

    async def _hold(self, call: IncomingRequest, token: int) -> str:
        self.waiting[token] = Waiting(call.id, token)
        self.waiting[token].ending = call.method
        try:
            await self.waiting[token].release.wait()
            return self.waiting[token].ending
        finally:
            del self.waiting[token]

    async def _stream(self) -> None:
        for _ in range(STREAM_UPDATES):
            self.streamed[self._updates] = UPDATE_BYTES
            self.notify()
            await self.connection.drained()

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        self.ledger.take_note(json.loads(bytes(params))["n"])
        self.ledger.check(not self.is_note_going_on, "a note was taken while another was going on")
        if method == "slow":
            return self._take_slowly()
        if method == "break":
            raise ValueError(SECRET)
        return None

    async def _take_slowly(self) -> None:
        self.is_note_going_on = True
        try:
            await self._slow_notes.wait()
        finally:
            self.is_note_going_on = False

    def take_bug(self, error: BaseException, trace: str) -> None:
        self.ledger.check(SECRET in str(error), f"an exception nobody threw: {error!r}")

    # What our side does.

    def notify(self, count: int = 1) -> None:
        """Send updates without asking whether there is room."""
        for _ in range(count):
            self.connection.notify("update", {"n": self._updates})
            self._updates += 1

    def check_queue(self) -> None:
        """Check that streams, which ask for room, never have more in transit than the mark plus one update each."""
        unheard = sum(size for number, size in self.streamed.items() if number >= self.ledger.updates_heard)
        most = LIMITS.high_water_bytes + 2 * BUFFER_BYTES + UPDATE_BYTES * LIMITS.in_flight
        self.ledger.check(
            self.ledger.is_closing or unheard <= most, f"{unheard} bytes of streams are waiting"
        )

    def call(self, timeout_s: float | None) -> None:
        assert self._tasks
        self._questions += 1
        call = OwnCall(self._questions, timeout_s)
        self.own_calls.append(call)
        self._tasks.start_soon(self._run_call, call)

    async def _run_call(self, call: OwnCall) -> None:
        with call.scope:
            try:
                call.outcome = await self.connection.request(
                    "ask", {"n": call.number}, str, timeout_s=call.timeout_s
                )
            except PeerError as error:
                call.outcome = error.code
            except PeerGone:
                self.ledger.check(self.ledger.is_closing, "gone while nobody left")
                call.outcome = "gone"
            except TimeoutError:
                self.ledger.check(call.timeout_s is not None, "a time-out that was not asked for")
                call.outcome = "timeout"
        if call.scope.cancelled_caught:
            call.outcome = "abandoned"

    def release_slow_notes(self) -> None:
        self._slow_notes.set()
        self._slow_notes = anyio.Event()

    async def close(self, way: str) -> None:
        """End the connection from one side or the other."""
        assert self._tasks
        self.ledger.is_closing = True
        closers: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "far": self.far.transport.aclose, "near": self.connection.aclose, "end of input": self.far.end_input,
        }  # fmt: skip
        if way == "soon":
            self.connection.close_soon()
        else:
            self._tasks.start_soon(closers[way])

    # The end.

    async def finish(self, way: str) -> None:
        """Release everything that was held; then nothing may be left. `way` is how the connection was closed."""
        with anyio.fail_after(WAIT_S):
            self.far.is_holding = False
            self.far.flush(BUFFER_BYTES)
            self.far.resume_reading()
            for _ in range(20 + self.ledger.notes_said):
                self.release_slow_notes()
                await self.settle()
            self._check_cancelled()
            given_up = self._given_up_unreplied()
            while self._let_go():
                await self.settle()
            for _ in range(20):
                await self.settle()
        if way in ("", "end of input"):
            self._check_answers()
        if not way:
            self._check_all_done(given_up)
        await self.far.end_input()
        for _ in range(20):
            self._let_go()
            await self.settle()

    def _check_cancelled(self) -> None:
        stuck = {w.token for w in self.waiting.values() if w.ending == "wait"}
        if not self.ledger.is_closing:
            stuck &= self.ledger.must_not_wait
        self.ledger.check(not stuck, f"cancelled, and still waiting: {stuck}")

    def _given_up_unreplied(self) -> set[int]:
        numbers = {call.number for call in self.own_calls if call.outcome in ("timeout", "abandoned")}
        questions = self.ledger.questions.items()
        return {i for i, number in questions if number in numbers and i not in self.ledger.first_replies}

    def _let_go(self) -> bool:
        """End what waits and answer requests; False if there was nothing."""
        self.release_slow_notes()
        questions = set(self.ledger.questions) - set(self.ledger.first_replies)
        for waiting in self.waiting.values():
            waiting.ending = "result"
            waiting.release.set()
        for question_id in questions:
            self.far.say_reply(question_id, "result", BUFFER_BYTES)
        return bool(self.waiting or questions)

    def _check_answers(self) -> None:
        ledger = self.ledger
        open_ids = [call_id for call_id, asked in ledger.unanswered.items() if asked]
        ledger.check(not open_ids, f"never answered: {open_ids}")
        ledger.check(ledger.notes_taken == ledger.notes_said, "a note was lost")

    def _check_all_done(self, given_up: set[int]) -> None:
        ledger = self.ledger
        ledger.check(ledger.updates_heard == self._updates, "an update was lost")
        most_junk = ledger.junk_said + ledger.junk_perhaps
        ledger.check(ledger.junk_said <= ledger.junk_heard <= most_junk, "not one error for each junk frame")
        ledger.check(given_up <= set(ledger.cancels_heard), "a call given up was not cancelled")
        ids = {number: question_id for question_id, number in ledger.questions.items()}
        for call in self.own_calls:
            ledger.check(call.outcome is not None, f"call {call.number} never ended")
            if call.outcome not in ("timeout", "abandoned"):
                question_id = ids[call.number]
                expected = ledger.first_replies[question_id]
                ledger.check(call.outcome == expected, f"{call.outcome!r} came instead of {expected!r}")
                ledger.check(question_id not in ledger.cancels_heard, "an answered call was cancelled")
