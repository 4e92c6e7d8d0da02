"""Two connections over a wire that delays and splits its data."""

import json
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import anyio.lowlevel
from msgspec import Raw

from hermes_protocol.connection import Connection, IncomingRequest, Limits
from hermes_protocol.errors import CANCELLED, INTERNAL_ERROR, PeerError, PeerGone
from hermes_protocol.transport import MemoryTransport, memory_pair

WAIT_S = 60
TURNS = 12
FAILURE = -5
SECRET = "secret detail"
LIMITS = Limits(
    in_flight=4, high_water_bytes=600, low_water_bytes=200, stop_reading_bytes=1 << 20, flush_s=0.05
)


class Valve:
    """One direction of the wire."""

    def __init__(self) -> None:
        self.piece_bytes = 1000
        self.moves = 0
        self._is_open = anyio.Event()
        self._is_open.set()

    def hold(self, piece_bytes: int) -> None:
        self.piece_bytes = piece_bytes
        if self._is_open.is_set():
            self._is_open = anyio.Event()

    def let_go(self) -> None:
        self._is_open.set()

    async def carry(self, source: MemoryTransport, sink: MemoryTransport) -> None:
        """Deliver everything; while nobody reads, accept nothing either."""
        try:
            while data := await source.receive():
                while data:
                    await self._is_open.wait()
                    piece, data = data[: self.piece_bytes], data[self.piece_bytes :]
                    self.moves += 1
                    await sink.send(piece)
            await self._is_open.wait()
            await sink.send_eof()
        except PeerGone:
            await source.aclose()


class Call:
    """One call, from the side that makes it."""

    def __init__(self, token: int, timeout_s: float | None) -> None:
        self.token = token
        self.timeout_s = timeout_s
        self.scope = anyio.CancelScope()
        self.outcomes: list[object] = []


class Waiting:
    """A call that the handler holds until it is released."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.ending = "result"
        self.release = anyio.Event()


class Side:
    """One connection, its handler and its callers."""

    def __init__(self, world: "PairWorld", transport: MemoryTransport) -> None:
        self.connection = Connection(transport, self, on_bug=self.take_bug, limits=LIMITS)
        self.sent: list[tuple[str, int]] = []
        self.taken: list[tuple[str, int]] = []
        self.calls: list[Call] = []
        self.waiting: dict[int, Waiting] = {}
        self.ended: dict[int, object] = {}
        self.notes = 0
        self._world = world

    async def request(self, call: IncomingRequest) -> object:
        token: int = json.loads(bytes(call.params))["token"]
        self._world.check(("request", token) not in self.taken, f"{token} is served a second time")
        self.taken.append(("request", token))
        self.ended[token] = CANCELLED
        ending = await self._serve(call.method, token)
        self.ended[token] = {"result": "result", "fail": FAILURE, "break": INTERNAL_ERROR}[ending]
        if ending == "fail":
            raise PeerError(FAILURE, "no")
        if ending == "break":
            raise ValueError(SECRET)
        return token

    async def _serve(self, method: str, token: int) -> str:
        if method == "quick":
            return "result"
        if method == "ask back":
            await self.call("quick", None)
            return "result"
        waiting = Waiting(method)
        with anyio.CancelScope(shield=method == "stubborn"):
            self.waiting[token] = waiting
            try:
                await waiting.release.wait()
            finally:
                del self.waiting[token]
        return waiting.ending

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        self.taken.append(("note", json.loads(bytes(params))["n"]))
        return anyio.lowlevel.checkpoint() if method == "slow" else None

    def take_bug(self, error: BaseException, trace: str) -> None:
        self._world.check(SECRET in str(error), f"an exception nobody threw: {error!r}")

    def notify(self, method: str, count: int) -> None:
        for _ in range(count):
            if not self._world.is_closing:
                self.sent.append(("note", self.notes))
            self.connection.notify(method, {"n": self.notes})
            self.notes += 1

    async def call(self, method: str, timeout_s: float | None) -> None:
        """Call the other side, and record how it ended."""
        call = Call(self._world.next_token(), timeout_s)
        self.calls.append(call)
        self.sent.append(("request", call.token))
        try:
            with call.scope:
                call.outcomes.append(await self._ask(call, method))
        except anyio.get_cancelled_exc_class():
            call.outcomes.append("cut off")  # Cancelled along with the handler that made the request.
            raise
        if call.scope.cancelled_caught:
            call.outcomes.append("abandoned")

    async def _ask(self, call: Call, method: str) -> object:
        try:
            answer = await self.connection.request(
                method, {"token": call.token}, int, timeout_s=call.timeout_s
            )
        except PeerError as error:
            self._world.check(SECRET not in f"{error.message} {error.data}", "an exception's text leaked")
            overloaded = error.data == {"code": "overloaded"}
            return "overloaded" if overloaded else error.code
        except PeerGone:
            return "gone"
        except TimeoutError:
            return "timeout"
        self._world.check(answer == call.token, f"{call.token} got the answer of {answer}")
        return "result"


class PairWorld:
    """Both sides and what is between them."""

    def __init__(self) -> None:
        near, near_end = memory_pair(256)
        far, far_end = memory_pair(256)
        self.violations: list[str] = []
        self.is_closing = False
        self.valves = (Valve(), Valve())
        self.sides = (Side(self, near), Side(self, far))
        self._ends = (near_end, far_end)
        self._tokens = 0
        self._tasks: anyio.abc.TaskGroup | None = None

    def check(self, is_true: bool, complaint: str) -> None:
        if not is_true:
            self.violations.append(complaint)

    def next_token(self) -> int:
        self._tokens += 1
        return self._tokens

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Run both sides and the wire; leaving waits for every task, with a limit, and cancels none."""
        there, back = self._ends
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self.valves[0].carry, there, back)
            self._tasks.start_soon(self.valves[1].carry, back, there)
            for side in self.sides:
                self._tasks.start_soon(side.connection.run)
            yield
            self._tasks.cancel_scope.deadline = anyio.current_time() + WAIT_S
        if self._tasks.cancel_scope.cancelled_caught:
            raise TimeoutError("a task was left over")

    async def settle(self) -> None:
        """Let all tasks run until all are idle."""
        seen: tuple[int, ...] = ()
        while seen != self._progress():
            seen = self._progress()
            for _ in range(TURNS):
                await anyio.lowlevel.checkpoint()

    def _progress(self) -> tuple[int, ...]:
        moves = [valve.moves for valve in self.valves]
        taken = [len(side.taken) for side in self.sides]
        ended = [sum(len(call.outcomes) for call in side.calls) for side in self.sides]
        return (*moves, *taken, *ended, *(len(side.waiting) for side in self.sides))

    def start_call(self, side: int, method: str, timeout_s: float | None) -> None:
        assert self._tasks
        self._tasks.start_soon(self.sides[side].call, method, timeout_s)

    def close(self, side: int, way: str) -> None:
        """End the connection from one side."""
        assert self._tasks
        self.is_closing = True
        connection = self.sides[side].connection
        if way == "soon":
            connection.close_soon()
        else:
            self._tasks.start_soon(connection.aclose)

    async def finish(self) -> None:
        """Release everything; then every call has ended, and after a close every task."""
        with anyio.fail_after(WAIT_S):
            for valve in self.valves:
                valve.let_go()
            await self.settle()
            if not self.is_closing:
                self._check_cancelled()
            while self._has_open_calls():
                for side in self.sides:
                    for waiting in side.waiting.values():
                        waiting.release.set()
                await self.settle()
        for side, other in (self.sides, self.sides[::-1]):
            self._check_order(side, other)
            self._check_outcomes(side, other)
        self.close(0, "soon")

    def _has_open_calls(self) -> bool:
        return any(side.waiting or not all(call.outcomes for call in side.calls) for side in self.sides)

    def _check_cancelled(self) -> None:
        for side, other in (self.sides, self.sides[::-1]):
            given_up = {call.token for call in side.calls if call.outcomes in (["abandoned"], ["timeout"])}
            stuck = [t for t, waiting in other.waiting.items() if waiting.method == "wait" and t in given_up]
            self.check(not stuck, f"given up, and still served: {stuck}")

    def _check_order(self, side: Side, other: Side) -> None:
        said = [label for label in side.sent if label[0] == "note"]
        heard = [label for label in other.taken if label[0] == "note"]
        self.check(heard[: len(said)] == said[: len(heard)], f"notes came as {heard}")
        self.check(self.is_closing or heard == said, f"{len(said) - len(heard)} notes were lost")
        served = set(other.taken)
        arrived = [label for label in side.sent if label in served]
        place = {label: number for number, label in enumerate(other.taken)}
        latest = -1
        for label in arrived:
            if label[0] == "request":
                latest = max(latest, place[label])
            else:
                self.check(latest < place[label], f"{label} was taken before what was asked ahead of it")

    def _check_outcomes(self, side: Side, other: Side) -> None:
        for call in side.calls:
            self.check(len(call.outcomes) == 1, f"{call.token} ended with {call.outcomes}")
            outcome = call.outcomes[0] if call.outcomes else None
            ended = other.ended.get(call.token)
            if outcome in ("gone", CANCELLED):
                self.check(self.is_closing, f"{outcome} while nobody left")
            elif outcome == "overloaded":
                self.check(ended is None, "refused and served")
            elif outcome == "timeout":
                self.check(call.timeout_s is not None, "a time-out that was not asked for")
            elif outcome == "cut off":
                continue
            elif outcome == "abandoned":
                self.check(call.scope.cancel_called, "given up by nobody")
            else:
                self.check(outcome == ended, f"{outcome} where the handler ended with {ended}")
