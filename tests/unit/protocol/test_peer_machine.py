"""Everything that can happen to a connection, in any order, with an arbitrary far end.

Every request is answered exactly once, with its own ID and outcome; notifications keep their order; every call of ours
ends; nothing hangs, no task is left, and a stream that asks for room never queues more than the mark.
"""

from contextlib import ExitStack
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from connection_ends import error_of, served
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from peer_far import REPLIES
from peer_ledger import Id
from peer_world import World

from hermes_protocol.errors import CANCELLED

IDS = st.sampled_from([0, 1, 2, "a", "0"])
PIECES = st.sampled_from([1, 3, 17, 60, 1000])
PICKS = st.integers(0, 5)
JUNK = st.sampled_from(
    [
        [],
        42,
        "s",
        {},
        {"jsonrpc": "2.0", "id": None, "method": "wait"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "wait"},
        {"jsonrpc": "1.0", "method": "note"},
        {"jsonrpc": "2.0", "id": 998, "result": 1, "error": {"code": 1, "message": "m"}},
    ]
)


class PeerMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.closed = ""
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self.world = self._portal.call(World)
        self._stack.enter_context(self._portal.wrap_async_context_manager(self.world.opened()))
        self._do(lambda: None)

    def _do(self, act: Any, *arguments: Any) -> None:
        """Perform one step on the event loop, then let all tasks run until they wait."""

        async def step() -> None:
            done = act(*arguments)
            if done is not None:
                await done
            await self.world.settle()

        self.steps += 1
        self._portal.call(step)

    @rule(
        call_id=IDS,
        method=st.sampled_from(["quick", "wait", "wait", "stubborn", "stream", "stream", "ask"]),
        piece=PIECES,
    )
    def far_requests(self, call_id: Id, method: str, piece: int) -> None:
        self._do(self.world.far.say_request, call_id, method, piece)

    @rule(call_id=IDS, piece=PIECES)
    def far_cancels(self, call_id: Id, piece: int) -> None:
        self._do(self.world.far.say_cancel, call_id, piece)

    @rule(method=st.sampled_from(["note", "note", "slow", "break"]), piece=PIECES)
    def far_notifies(self, method: str, piece: int) -> None:
        self._do(self.world.far.say_note, method, piece)

    @rule(junk=JUNK, piece=PIECES)
    def far_sends_junk(self, junk: Any, piece: int) -> None:
        self._do(self.world.far.say_junk, junk, piece)
        late = {"jsonrpc": "2.0", "id": piece + 900, "result": 1}
        self._do(self.world.far.say, late, piece)  # A reply to nothing gets no answer.

    @precondition(lambda self: self.world.waiting)
    @rule(pick=PICKS, piece=PIECES)
    def far_sends_junk_with_a_running_id(self, pick: int, piece: int) -> None:
        self._do(self.world.far.resume_reading)
        self._do(self.world.release_slow_notes)
        self.far_holds_back("all", piece)
        while self.world.is_note_going_on:
            self._do(self.world.release_slow_notes)
        waiting = [*self.world.waiting.values()]
        if waiting:
            call_id = waiting[pick % len(waiting)].id
            self._do(self.world.far.say_junk, {"jsonrpc": "2.0", "id": call_id, "method": 5}, piece)

    @rule(pick=PICKS, what=st.sampled_from(["result", "fail", "break", "break", "slow note", "own call"]))
    def something_ends(self, pick: int, what: str) -> None:
        waiting, calls = [*self.world.waiting.values()], self.world.own_calls
        if what == "slow note":
            self._do(self.world.release_slow_notes)
        elif what == "own call" and calls:
            self._do(calls[-1 - pick % len(calls)].scope.cancel)
        elif what != "own call" and waiting:
            ended = waiting[pick % len(waiting)]
            ended.ending = what
            self._do(ended.release.set)

    @rule(count=st.sampled_from([1, 2, 100]))
    def near_notifies(self, count: int) -> None:
        self._do(self.world.notify, count)

    @rule(timeout_s=st.sampled_from([None, None, 0.0]))
    def near_calls(self, timeout_s: float | None) -> None:
        self._do(self.world.call, timeout_s)

    @precondition(lambda self: self.world.ledger.questions)
    @rule(pick=PICKS, kind=st.sampled_from(sorted(REPLIES)), piece=PIECES)
    def far_replies(self, pick: int, kind: str, piece: int) -> None:
        questions = [*self.world.ledger.questions]
        self._do(self.world.far.say_reply, questions[-1 - pick % len(questions)], kind, piece)

    @rule(what=st.sampled_from(["nothing", "a part", "all", "all"]), size=st.integers(1, 90))
    def far_holds_back(self, what: str, size: int) -> None:
        self.world.far.is_holding = what != "all"
        if what == "a part":
            self._do(self.world.far.flush_part, size)
        elif what == "all":
            self._do(self.world.far.flush, size)

    @rule(reads=st.sampled_from([True, False, False]))
    def far_reads_or_stops(self, reads: bool) -> None:
        self._do(self.world.far.resume_reading if reads else self.world.far.stop_reading)

    @precondition(lambda self: self.steps > 24 and not self.closed)
    @rule(way=st.sampled_from(["end of input", "far", "near", "soon"]), is_stuck=st.booleans())
    def somebody_closes(self, way: str, is_stuck: bool) -> None:
        self.closed = way
        if is_stuck:
            self.far_reads_or_stops(False)
        self._do(self.world.close, way)

    @invariant()
    def the_ledger_is_clean(self) -> None:
        self.world.check_queue()
        assert not self.world.ledger.violations

    def teardown(self) -> None:
        with self._stack:
            self._portal.call(self.world.finish, self.closed)
        assert not self.world.ledger.violations


PeerMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
TestPeer = PeerMachine.TestCase


@pytest.mark.anyio
@pytest.mark.parametrize("leaves", ["ends its input", "closes"])
async def test_a_handler_whose_question_fails_because_the_peer_left_is_not_a_bug(leaves: str) -> None:
    async with served() as (far, handler, connection):
        await far.call(1, "ask")
        assert (await far.read())["method"] == "question"
        if leaves == "closes":
            await far.transport.aclose()
            await connection.aclose()
        else:
            await far.transport.send_eof()
            assert error_of(await far.read()) == (1, CANCELLED)
            assert await far.read() is None
    assert handler.bugs == []
