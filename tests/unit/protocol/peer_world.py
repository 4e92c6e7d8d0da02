"""A connection, its handler and a far end by hand, moved step by step by a state machine."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
from msgspec import Raw
from peer_ledger import FAILURE, REFUSAL, SECRET, Id, Ledger

from hermes_protocol.connection import CANCEL_REQUEST, Connection, IncomingRequest, Limits
from hermes_protocol.envelope import encode_notification
from hermes_protocol.errors import INTERNAL_ERROR, INVALID_REQUEST, PeerError, PeerGone
from hermes_protocol.framing import LineReader
from hermes_protocol.transport import memory_pair

WAIT_S = 10
TURNS = 20
BUFFER_BYTES = 128
LIMITS = Limits(
    in_flight=4, high_water_bytes=600, low_water_bytes=200, stop_reading_bytes=4000, flush_s=WAIT_S
)
UPDATE_BYTES = len(encode_notification("update", {"n": 10}))
STREAM_UPDATES = 30
REPLIES: dict[str, object] = {
    "result": "result", "error": REFUSAL, "shape": INTERNAL_ERROR,
    "both": INVALID_REQUEST, "no version": INVALID_REQUEST,
}  # fmt: skip


class Waiting:
    """A call the handler holds until the machine lets it go."""

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
    """Everything around one connection; steps are coroutines, and the ledger judges what is seen."""

    def __init__(self) -> None:
        near, self.far = memory_pair(BUFFER_BYTES)
        self.ledger = Ledger(LIMITS.in_flight)
        self.connection = Connection(near, self, on_bug=self.take_bug, limits=LIMITS)
        self.waiting: dict[int, Waiting] = {}
        self.own_calls: list[OwnCall] = []
        self.streamed: dict[int, int] = {}
        self.is_holding = False
        self.is_input_ended = False
        self._tokens = 0
        self._moves = 0
        self._updates = 0
        self._held = b""
        self._to_write: list[bytes] = []
        self._writes = anyio.Event()
        self._may_read = anyio.Event()
        self._may_read.set()
        self._slow_notes = anyio.Event()
        self.is_note_going_on = False
        self._is_over = False
        self._tasks: anyio.abc.TaskGroup | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Run everything; leaving waits for every task, within bounds, and cancels none."""
        async with anyio.create_task_group() as self._tasks:
            for task in (self.connection.run, self._write_far, self._read_far):
                self._tasks.start_soon(task)
            yield
            self._tasks.cancel_scope.deadline = anyio.current_time() + WAIT_S
        if self._tasks.cancel_scope.cancelled_caught:
            raise TimeoutError("a task was left over")

    async def settle(self) -> None:
        """Let all tasks run until nothing moves any more."""
        seen = None
        while seen != self._progress():
            seen = self._progress()
            for _ in range(TURNS):
                await anyio.lowlevel.checkpoint()

    def _progress(self) -> tuple[int, ...]:
        ended = sum(call.outcome is not None for call in self.own_calls)
        return (
            self._moves,
            self._updates,
            self.ledger.notes_taken,
            len(self.ledger.outcomes),
            len(self.waiting),
            ended,
        )

    # The handler under the connection.

    async def request(self, call: IncomingRequest) -> object:
        token: int = json.loads(bytes(call.params))["token"]
        ending = "break"
        try:
            ending = await self._serve(call, token)
        except PeerError as error:
            self.ledger.outcomes[token] = error.code
            raise
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
            self._tokens += 1
            await self.connection.request("ask", {"n": self._tokens}, str)
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
        """Streams, which ask for room, may never have more on the way than the mark and one update each."""
        unheard = sum(size for number, size in self.streamed.items() if number >= self.ledger.updates_heard)
        most = LIMITS.high_water_bytes + 2 * BUFFER_BYTES + UPDATE_BYTES * LIMITS.in_flight
        self.ledger.check(
            self.ledger.is_closing or unheard <= most, f"{unheard} bytes of streams are waiting"
        )

    def call(self, timeout_s: float | None) -> None:
        assert self._tasks
        self._tokens += 1
        call = OwnCall(self._tokens, timeout_s)
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

    # What the far end does.

    def say(self, message: Any, piece_bytes: int) -> None:
        """Send a message in pieces, now or with what else is held."""
        self._held += json.dumps(message).encode() + b"\n"
        if not self.is_holding:
            self.flush(piece_bytes)

    def flush(self, piece_bytes: int) -> None:
        """Send what is held; a piece that is cut off may follow much later."""
        if self.is_input_ended:
            return
        self._to_write += [
            self._held[start : start + piece_bytes] for start in range(0, len(self._held), piece_bytes)
        ]
        self._held = b""
        self._writes.set()

    def flush_part(self, size_bytes: int) -> None:
        """Send the beginning of what is held."""
        if self.is_input_ended:
            return
        self._to_write.append(self._held[:size_bytes])
        self._held = self._held[size_bytes:]
        self._writes.set()

    def say_request(self, call_id: Id, method: str, piece_bytes: int) -> None:
        self._tokens += 1
        if not self.is_input_ended:
            self.ledger.say_request(call_id, self._tokens)
        params = {"token": self._tokens}
        self.say({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}, piece_bytes)

    def say_cancel(self, call_id: Id, piece_bytes: int) -> None:
        if not self.is_input_ended:
            self.ledger.say_cancel(call_id)
        self.say({"jsonrpc": "2.0", "method": CANCEL_REQUEST, "params": {"requestId": call_id}}, piece_bytes)

    def say_note(self, method: str, piece_bytes: int) -> None:
        self.say({"jsonrpc": "2.0", "method": method, "params": {"n": self.ledger.notes_said}}, piece_bytes)
        self.ledger.notes_said += not self.is_input_ended

    def say_junk(self, message: Any, piece_bytes: int) -> None:
        """Send what deserves one error with id null."""
        self.ledger.junk_said += 1
        self.say(message, piece_bytes)

    def say_reply(self, question_id: int, kind: str, piece_bytes: int) -> None:
        reply: dict[str, object] = {"jsonrpc": "2.0", "id": question_id}
        if kind in ("result", "both", "no version"):
            reply["result"] = f"to {self.ledger.questions.get(question_id)}"
        if kind in ("error", "both"):
            reply["error"] = {"code": REFUSAL, "message": "no"}
        if kind == "no version":
            del reply["jsonrpc"]
        if kind == "shape":
            reply["result"] = [1]
        self.ledger.say_reply(question_id, reply["result"] if kind == "result" else REPLIES[kind])
        self.say(reply, piece_bytes)

    def release_slow_notes(self) -> None:
        self._slow_notes.set()
        self._slow_notes = anyio.Event()

    def stop_reading(self) -> None:
        if self._may_read.is_set():
            self._may_read = anyio.Event()

    def resume_reading(self) -> None:
        self._may_read.set()

    async def end_input(self) -> None:
        """Send what there is to send, then no more."""
        self.is_holding = False
        self.flush(BUFFER_BYTES)
        self.ledger.is_closing = self.is_input_ended = self._is_over = True
        self._writes.set()

    async def close(self, way: str) -> None:
        """End the connection from one side or the other."""
        assert self._tasks
        self.ledger.is_closing = True
        closers: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "far": self.far.aclose, "near": self.connection.aclose, "end of input": self.end_input,
        }  # fmt: skip
        if way == "soon":
            self.connection.close_soon()
        else:
            self._tasks.start_soon(closers[way])

    async def _write_far(self) -> None:
        try:
            while self._to_write or not self._is_over:
                self._moves += 1
                if self._to_write:
                    await self.far.send(self._to_write.pop(0))
                else:
                    self._writes = anyio.Event()
                    await self._writes.wait()
            await self.far.send_eof()
        except PeerGone:
            self.ledger.check(self.ledger.is_closing, "the connection closed by itself")

    async def _read_far(self) -> None:
        reader = LineReader()
        while True:
            await self._may_read.wait()
            data = await self.far.receive()
            self._moves += 1
            if not data:
                return
            for frame in reader.feed(data):
                self.ledger.hear(json.loads(frame) if isinstance(frame, bytes) else {})

    # The end.

    async def finish(self, way: str) -> None:
        """Let everything go on that was held up; then nothing may be left over. `way` is how it was closed."""
        with anyio.fail_after(WAIT_S):
            self.is_holding = False
            self.flush(BUFFER_BYTES)
            self.resume_reading()
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
        await self.end_input()
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
        """End what waits and answer what was asked; False when there was nothing."""
        self.release_slow_notes()
        questions = set(self.ledger.questions) - set(self.ledger.first_replies)
        for waiting in self.waiting.values():
            waiting.ending = "result"
            waiting.release.set()
        for question_id in questions:
            self.say_reply(question_id, "result", BUFFER_BYTES)
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
