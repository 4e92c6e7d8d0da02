"""Open a turn that works for another turn, in a child session of its parent.

Delegated tasks and reflection both run this way; they differ in their `ChildSetup` and their observers.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from msgspec import Struct

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn import Turn, TurnDependencies, TurnOrigin
from hermes_acp.agent.turn.turn_inbox import Inbox
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.core.events import InstructionsGiven, ModeChanged, OptionsChanged, TitleChanged
from hermes_acp.core.ports.child_ports import ChildRecords
from hermes_acp.core.ports.gate_ports import Gate


class ChildSetup(Struct, frozen=True):
    """The setup of a child turn: its title, dependencies, limits and origin."""

    title: str
    deps: TurnDependencies
    limits: TurnLimits
    origin: TurnOrigin
    instructions: InstructionsGiven | None = None


@asynccontextmanager
async def child_session(parent: Turn, records: ChildRecords) -> AsyncGenerator[Ledger]:
    """Open a child session of `parent`; its record is closed when the block ends. Raises StorageError."""
    journal, record = await records.begin(parent.record)
    try:
        yield Ledger(journal, record)
    finally:
        journal.close()


def note_inherited(parent: Turn, ledger: Ledger, setup: ChildSetup) -> None:
    """Record what a new child session inherits from its parent: options, mode and instructions. Raises StorageError."""
    ledger.emit(TitleChanged(setup.title))
    if setup.instructions:
        ledger.emit(setup.instructions)
    ledger.emit(OptionsChanged(parent.record.options))
    ledger.emit(ModeChanged(parent.mode))


def open_child_turn(parent: Turn, ledger: Ledger, setup: ChildSetup, gate: Gate) -> Turn:
    """Create the turn of a new child session, with its parent's options and mode. Raises StorageError.

    The usage of a delegated turn also counts towards its parent; that of a reflection does not.
    """
    note_inherited(parent, ledger, setup)
    delegator = setup.origin.delegator
    return Turn(
        id=parent.deps.ids.fresh("turn"),
        deps=setup.deps,
        ledger=ledger,
        workspace=parent.workspace,
        gate=gate,
        inbox=Inbox(),
        limits=setup.limits,
        spent=TurnUsage(parent.deps.clock.monotonic(), delegator.spent if delegator else None),
        fallback_plan=setup.deps.routing.fallback_plan(),
        origin=setup.origin,
    )
