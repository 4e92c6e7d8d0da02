"""Which calls of one step may run together, and which wait for others.

Knows: what calls touch, which of them get in each other's way, whose turn it is to be understood and to be asked about.
Does not know: what a call does, how it is judged, carried out or recorded.

Calls are understood in their order, each only when no earlier one that is still at work gets in its way: so what it is
shown against is what it will find. Whatever gets in nobody's way runs at the same time.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import anyio
from msgspec import Struct

from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.proposals import Deletes, Effect, Presses, Reaches, Reads, Recalls, Remembers, Writes

MAX_CONCURRENT_CALLS: Final = 8
_UNBOUNDED_TOOLS: Final = frozenset({"processes", "delegation"})


class Footprint(Struct, frozen=True):
    """What a call touches: paths it looks at and paths it changes, or, where it `is_unbounded`, nobody knows what.

    Calls with the same `place`, where it has one, are of a tool that remembers what was done before.
    """

    reads: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    is_unbounded: bool = False
    place: str = ""

    @property
    def touches_anything(self) -> bool:
        """Whether it has to do with files or commands at all."""
        return bool(self.is_unbounded or self.reads or self.changes)

    @property
    def changes_anything(self) -> bool:
        """Whether others may find something else behind it than before."""
        return bool(self.is_unbounded or self.changes)

    def conflicts_with(self, other: "Footprint") -> bool:
        """Return whether two calls must not run at the same time; looking never hinders looking."""
        if self.place and self.place == other.place:
            return True
        if self.is_unbounded or other.is_unbounded:
            return self.touches_anything and other.touches_anything
        return _overlap(self.changes, (*other.reads, *other.changes)) or _overlap(other.changes, self.reads)


def footprint_of(tool: Tool, effects: Iterable[Effect]) -> Footprint:
    """Return what a call touches by the effects it declares; an unknown kind of effect may touch anything."""
    reads: list[str] = []
    changes: list[str] = []
    is_unbounded = _is_unbounded(tool)
    for effect in effects:
        match effect:
            case Reads(path=path):
                reads.append(path)
            case Writes(path=path) | Deletes(path=path) | Remembers(path=path):
                changes.append(path)
            case Reaches() | Presses() | Recalls():
                pass
            case _:
                is_unbounded = True
    has_paths = bool(reads or changes)
    place = "" if tool.tool_metadata.is_repeatable or has_paths else tool.name
    return Footprint(tuple(reads), tuple(changes), is_unbounded, place)


def _is_unbounded(tool: Tool) -> bool:
    return not tool.tool_metadata.is_repeatable and not tool.tool_metadata.capabilities.isdisjoint(
        _UNBOUNDED_TOOLS
    )


def _overlap(some: Iterable[str], others: Sequence[str]) -> bool:
    return any(_is_one_within(one, other) for one in some for other in others)


def _is_one_within(one: str, other: str) -> bool:
    """Return whether two resolved paths are the same, or one is a folder above the other."""
    return one == other or one.startswith(other.rstrip("/") + "/") or other.startswith(one.rstrip("/") + "/")


class CallSlot:
    """One call's place among those of its step."""

    def __init__(self) -> None:
        self.footprint = Footprint()
        self.is_understood = anyio.Event()
        self.is_decided = anyio.Event()
        self.has_ended = anyio.Event()

    def end(self) -> None:
        """Let everybody go on who waits for this call."""
        self.is_understood.set()
        self.is_decided.set()
        self.has_ended.set()


class CallOrder:
    """The calls of one step, by their numbers from 0 on; each ends its place, whatever happened."""

    def __init__(self, count: int) -> None:
        self._places = [CallSlot() for _ in range(count)]
        self.seats = anyio.Semaphore(MAX_CONCURRENT_CALLS, fast_acquire=True)

    def place(self, number: int) -> CallSlot:
        """Return a call's place."""
        return self._places[number]

    async def wait_for_turn(self, number: int) -> None:
        """Wait until every earlier call is understood."""
        for place in self._places[:number]:
            await place.is_understood.wait()

    async def wait_to_ask(self, number: int) -> None:
        """Wait until nobody is asked about an earlier call any more, nor will be."""
        for place in self._places[:number]:
            await place.is_decided.wait()

    async def wait_for_end(self, number: int) -> None:
        """Wait for a call's outcome."""
        await self._places[number].has_ended.wait()

    async def wait_for_likely_conflicts(self, number: int, tool: Tool) -> None:
        """Wait for earlier calls that are likely in this one's way, so that it need not be understood twice.

        A call that may change files waits for those that only look, as they soon end.
        """
        likely = Footprint(
            reads=("/",) if tool.tool_metadata.capabilities else (), is_unbounded=_is_unbounded(tool)
        )
        may_change = not tool.tool_metadata.is_cheap and "files" in tool.tool_metadata.capabilities
        for place in self._places[:number]:
            before = place.footprint
            sweeps = (before.is_unbounded or likely.is_unbounded) and before.conflicts_with(likely)
            if sweeps or (may_change and before.reads and not before.changes_anything):
                await place.has_ended.wait()

    def at_work(self, number: int) -> Sequence[CallSlot]:
        """Return the earlier calls that have no outcome yet."""
        return [place for place in self._places[:number] if not place.has_ended.is_set()]

    @staticmethod
    async def wait_for_conflicts(at_work: Iterable[CallSlot], footprint: Footprint | None) -> bool:
        """Wait for those of the calls which were `at_work` while this one was understood that are in its way.

        Tell whether there were any, though they may have ended by then: this one is then understood anew. Without a
        footprint it could not be understood: then all that change something may be the reason.
        """
        hindrances = [
            place
            for place in at_work
            if (footprint.conflicts_with(place.footprint) if footprint else place.footprint.changes_anything)
        ]
        for place in hindrances:
            await place.has_ended.wait()
        return bool(hindrances)
