"""_hermes/checkpoints/diff: the files a turn changed, before and after."""

from msgspec import UNSET, Struct, UnsetType

from hermes_acp.core.checkpoints import FileTexts
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method


class DiffParams(Struct, rename="camel"):
    """Which checkpoint."""

    session_id: str
    id: str


class FileDiff(Struct, rename="camel"):
    """One file: both texts, null where it was not there; of one that is no text only that."""

    path: str
    old_text: str | UnsetType | None = UNSET
    new_text: str | UnsetType | None = UNSET
    binary: bool | UnsetType = UNSET


class DiffResult(Struct, rename="camel"):
    """All files that were changed."""

    files: list[FileDiff]


async def diff_checkpoint(desk: Desk, params: DiffParams) -> DiffResult:
    """Give both states of every file. Raises NotFound, CheckpointTrouble."""
    desk.house.registrar.status(params.session_id)
    found = await desk.house.checkpointing.keeper.texts(params.session_id, params.id)
    return DiffResult([_diff(each) for each in found])


def _diff(texts: FileTexts) -> FileDiff:
    if texts.is_binary:
        return FileDiff(texts.path, binary=True)
    return FileDiff(texts.path, texts.old_text, texts.new_text)


EXTENSION = Method(DiffParams, diff_checkpoint)
