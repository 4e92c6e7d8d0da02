"""Schedule the calls of one step: which run concurrently and which wait.

Calls are proposed in the model's order, each after all conflicting earlier calls have ended, so a call runs against the
state it was checked against. Calls that do not conflict run concurrently.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import anyio
from msgspec import Struct

from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.proposals import (
    Deletes,
    Effect,
    Invokes,
    Presses,
    Reaches,
    Reads,
    Recalls,
    Remembers,
    Writes,
)

MAX_CONCURRENT_CALLS: Final = 8
_UNBOUNDED_TOOLS: Final = frozenset({"processes", "delegation"})


class Footprint(Struct, frozen=True):
    """The paths that a call reads and the paths that it changes, or `is_unbounded` if these are unknown.

    Calls with the same non-empty `place` belong to a tool that keeps state between calls, such as a browser.
    """

    reads: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    is_unbounded: bool = False
    place: str = ""

    @property
    def touches_anything(self) -> bool:
        """Whether the call involves any files or commands."""
        return bool(self.is_unbounded or self.reads or self.changes)

    @property
    def changes_anything(self) -> bool:
        """Whether the call may change the state that later calls see."""
        return bool(self.is_unbounded or self.changes)

    def conflicts_with(self, other: "Footprint") -> bool:
        """Return whether two calls must not run concurrently; two reads never conflict."""
        if self.place and self.place == other.place:
            return True
        if self.is_unbounded or other.is_unbounded:
            return self.touches_anything and other.touches_anything
        return _overlap(self.changes, (*other.reads, *other.changes)) or _overlap(other.changes, self.reads)


def footprint_of(tool: Tool, effects: Iterable[Effect]) -> Footprint:
    """Derive a call's footprint from its effects. An effect of an unknown kind may touch anything."""
    reads: list[str] = []
    changes: list[str] = []
    effects = tuple(effects)
    is_unbounded = _is_unbounded(tool)
    for effect in effects:
        match effect:
            case Reads(path=path):
                reads.append(path)
            case Writes(path=path) | Deletes(path=path) | Remembers(path=path):
                changes.append(path)
            case Reaches() | Presses() | Recalls() | Invokes(capability=None | "network"):
                pass
            case _:
                is_unbounded = True
    is_bound_by_paths = bool(reads or changes) and not any(isinstance(each, Presses) for each in effects)
    place = "" if tool.tool_metadata.is_repeatable or is_bound_by_paths else tool.name
    return Footprint(tuple(reads), tuple(changes), is_unbounded, place)


def _is_unbounded(tool: Tool) -> bool:
    return not tool.tool_metadata.is_repeatable and not tool.tool_metadata.capabilities.isdisjoint(
        _UNBOUNDED_TOOLS
    )


def _overlap(some: Iterable[str], others: Sequence[str]) -> bool:
    return any(_is_one_within(one, other) for one in some for other in others)


def _is_one_within(one: str, other: str) -> bool:
    """Return whether two resolved paths are equal or one of them is a folder that contains the other."""
    return one == other or one.startswith(other.rstrip("/") + "/") or other.startswith(one.rstrip("/") + "/")


class CallSlot:
    """The scheduling state of one call."""

    def __init__(self) -> None:
        self.footprint = Footprint()
        self.is_understood = anyio.Event()
        self.is_decided = anyio.Event()
        self.has_ended = anyio.Event()

    def end(self) -> None:
        """Release the calls that wait for this one."""
        self.is_understood.set()
        self.is_decided.set()
        self.has_ended.set()


class CallOrder:
    """Orders the calls of one step, numbered from 0; every call must end its slot, whatever happens."""

    def __init__(self, count: int) -> None:
        self._places = [CallSlot() for _ in range(count)]
        self.seats = anyio.Semaphore(MAX_CONCURRENT_CALLS, fast_acquire=True)

    def place(self, number: int) -> CallSlot:
        """Return a call's slot."""
        return self._places[number]

    async def wait_for_turn(self, number: int) -> None:
        """Wait until all earlier calls have been proposed."""
        for place in self._places[:number]:
            await place.is_understood.wait()

    async def wait_to_ask(self, number: int) -> None:
        """Wait until no earlier call needs, or may still need, to ask a question."""
        for place in self._places[:number]:
            await place.is_decided.wait()

    async def wait_for_end(self, number: int) -> None:
        """Wait until a call has an outcome."""
        await self._places[number].has_ended.wait()

    async def wait_for_likely_conflicts(self, number: int, tool: Tool) -> None:
        """Wait for earlier calls that are likely to conflict, so that this one is proposed only once.

        A call that may change files waits for read-only calls, because they end soon.
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
        """Wait for the calls in `at_work` that conflict with this one; return whether there were any.

        Returns True even if they have already ended: this call must then be proposed again. Without a footprint, the
        call could not be proposed, and any call that changes something may be the reason.
        """
        hindrances = [
            place
            for place in at_work
            if (footprint.conflicts_with(place.footprint) if footprint else place.footprint.changes_anything)
        ]
        for place in hindrances:
            await place.has_ended.wait()
        return bool(hindrances)
