"""_hermes/checkpoints/restore: take back what a turn changed, or what an undo put back."""

from msgspec import Struct

from hermes_acp.core.checkpoints import Restored
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.sessions.undo import Undoing


class RestoreParams(Struct, rename="camel"):
    """Which checkpoint, of which files (all where none are named), and whether what others changed since may go."""

    session_id: str
    id: str
    paths: list[str] | None = None
    force: bool = False


class Refused(Struct, rename="camel"):
    """A file that was left alone, and why."""

    path: str
    why: str


class RestoreResult(Struct, rename="camel"):
    """The files put back, those in the way, and the checkpoint that undoes this, empty where nothing was done."""

    restored: list[str]
    conflicts: list[Refused]
    checkpoint_id: str


async def restore_checkpoint(desk: Desk, params: RestoreParams) -> RestoreResult:
    """Put everything back that was meant or, where something is in the way, nothing.

    The session must be open: its model is told. Raises NotFound, Busy, CheckpointTrouble, StorageTrouble.
    """
    session = desk.session(params.session_id)
    undoing = Undoing(desk.house.checkpointing.keeper, session.id, session.ledger.emit)

    async def restore() -> Restored:
        return await undoing.restore(params.id, params.paths, force=params.force)

    done = await session.between_turns(restore)
    return RestoreResult(
        list(done.restored), [Refused(each.path, each.why) for each in done.conflicts], done.checkpoint_id
    )


EXTENSION = Method(RestoreParams, restore_checkpoint)
