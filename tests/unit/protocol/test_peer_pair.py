"""Two connections that request, notify, cancel, answer late and close, over a wire that delays data.

Every call ends exactly once: with its handler's result, or together with a peer that left. Notifications keep their
order and follow the requests before them. Nothing hangs, and no task is left.
"""

from typing import NamedTuple

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pair_world import PairWorld

SIDES = st.sampled_from([0, 1])
PICKS = st.integers(0, 5)


class Calls(NamedTuple):
    side: int
    method: str
    timeout_s: float | None


class Tells(NamedTuple):
    side: int
    method: str
    times: int


class GivesUp(NamedTuple):
    side: int
    pick: int


class Ends(NamedTuple):
    side: int
    pick: int
    ending: str


class Holds(NamedTuple):
    direction: int
    piece_bytes: int


class LetsGo(NamedTuple):
    direction: int


class Leaves(NamedTuple):
    side: int
    way: str


Move = Calls | Tells | GivesUp | Ends | Holds | LetsGo | Leaves
METHODS = st.sampled_from(["quick", "wait", "wait", "stubborn", "ask back"])
CALLS = st.builds(Calls, SIDES, METHODS, st.sampled_from([None, None, None, 0.0]))
MOVES: st.SearchStrategy[Move] = st.one_of(
    CALLS,
    CALLS,
    st.builds(Tells, SIDES, st.sampled_from(["note", "slow"]), st.sampled_from([1, 2, 40])),
    st.builds(GivesUp, SIDES, PICKS),
    st.builds(Ends, SIDES, PICKS, st.sampled_from(["result", "result", "fail", "break"])),
    st.builds(Holds, SIDES, st.sampled_from([1, 7, 40, 1000])),
    st.builds(LetsGo, SIDES),
)
LEAVING = st.builds(Leaves, SIDES, st.sampled_from(["soon", "wholly"]))
# Whether everything finishes after a move, or the next move is made before anything could happen.
TURNS = st.tuples(MOVES, st.booleans())


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    before=st.lists(TURNS, min_size=20, max_size=40),
    leaving=st.none() | LEAVING,
    after=st.lists(TURNS, max_size=10),
)
def test_two_peers_can_do_anything_to_each_other(
    before: list[tuple[Move, bool]], leaving: Leaves | None, after: list[tuple[Move, bool]]
) -> None:
    moves = [*before, *([(leaving, True)] if leaving else []), *after]
    assert anyio.run(play, moves) == []


async def play(moves: list[tuple[Move, bool]]) -> list[str]:
    """Make the moves, let everything finish, and return the violations."""
    world = PairWorld()
    async with world.opened():
        for move, settles in moves:
            make(world, move)
            if settles:
                await world.settle()
        await world.finish()
    return world.violations


def make(world: PairWorld, move: Move) -> None:
    match move:
        case Calls(side, method, timeout_s):
            world.start_call(side, method, timeout_s)
        case Tells(side, method, times):
            world.sides[side].notify(method, times)
        case GivesUp(side, pick):
            if calls := [call for call in world.sides[side].calls if not call.outcomes]:
                calls[pick % len(calls)].scope.cancel()
        case Ends(side, pick, ending):
            if waiting := [*world.sides[side].waiting.values()]:
                ended = waiting[pick % len(waiting)]
                ended.ending = ending
                ended.release.set()
        case Holds(direction, piece_bytes):
            world.valves[direction].hold(piece_bytes)
        case LetsGo(direction):
            world.valves[direction].let_go()
        case Leaves(side, way):
            world.close(side, way)
