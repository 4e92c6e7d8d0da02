"""_hermes/checkpoints/list: what a session's turns changed in files, the oldest turn first."""

from datetime import UTC, datetime

from msgspec import UNSET, Struct, UnsetType

from hermes_acp.core.checkpoints import Checkpoint
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method


class ListParams(Struct, rename="camel"):
    """Whose checkpoints; undos are listed only where they are asked for."""

    session_id: str
    include_undos: bool = False


class FileEntry(Struct, rename="camel"):
    """One file that was changed; `old_path` where it was renamed."""

    path: str
    change: str
    old_path: str | UnsetType = UNSET


class Entry(Struct, rename="camel"):
    """One checkpoint."""

    id: str
    turn_id: str
    created_at: str
    title: str
    kind: str
    files: list[FileEntry]
    left_out: list[str]
    is_undone: bool
    is_torn: bool


class ListResult(Struct, rename="camel"):
    """All of a session's."""

    checkpoints: list[Entry]


async def list_checkpoints(desk: Desk, params: ListParams) -> ListResult:
    """List them, of an open session or a stored one. Raises NotFound, CheckpointTrouble."""
    desk.house.registrar.status(params.session_id)
    found = await desk.house.checkpointing.keeper.of_session(params.session_id)
    return ListResult([_entry(each) for each in found if each.kind == "turn" or params.include_undos])


def _entry(checkpoint: Checkpoint) -> Entry:
    return Entry(
        id=checkpoint.id,
        turn_id=checkpoint.turn_id,
        created_at=datetime.fromtimestamp(checkpoint.created_at, UTC).isoformat().replace("+00:00", "Z"),
        title=checkpoint.title,
        kind=checkpoint.kind,
        files=[FileEntry(each.path, each.change, each.old_path or UNSET) for each in checkpoint.files],
        left_out=list(checkpoint.left_out),
        is_undone=bool(checkpoint.undone_by),
        is_torn=checkpoint.is_torn,
    )


EXTENSION = Method(ListParams, list_checkpoints)
