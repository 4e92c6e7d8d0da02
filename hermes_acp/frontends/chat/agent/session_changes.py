"""Collect the changes of a session by file, from before its first turn to after its last one."""

from hermes_acp_client.agent import Agent
from msgspec import Struct

from hermes_protocol import own


class FileChange(Struct, frozen=True):
    """The texts of a file before and after; None if it does not exist. For a binary file, both are empty."""

    path: str
    old_text: str | None
    new_text: str | None
    is_binary: bool = False


class SessionChanges(Struct, frozen=True):
    """The changed files by path, and the paths whose earlier state was not stored."""

    files: tuple[FileChange, ...]
    left_out: tuple[str, ...]


async def session_changes(agent: Agent, session_id: str) -> SessionChanges:
    """Combine the changes of all turns that were not undone. Raises AgentError."""
    params = own.CheckpointsListParams(session_id=session_id)
    listed = await agent.call("_hermes/checkpoints/list", params, own.CheckpointsListResult)
    joined: dict[str, FileChange] = {}
    left_out: set[str] = set()
    for turn in listed.checkpoints:
        if turn.is_undone:
            continue
        left_out.update(turn.left_out)
        wanted = own.CheckpointsDiffParams(session_id=session_id, id=turn.id)
        found = await agent.call("_hermes/checkpoints/diff", wanted, own.CheckpointsDiffResult)
        for file in found.files:
            joined[file.path] = _joined(joined.get(file.path), file)
    changed = (each for each in joined.values() if each.is_binary or each.old_text != each.new_text)
    return SessionChanges(tuple(sorted(changed, key=lambda each: each.path)), tuple(sorted(left_out)))


def _joined(before: FileChange | None, file: own.CheckpointsDiffFile) -> FileChange:
    new = file.new_text if isinstance(file.new_text, str) else None
    old = file.old_text if isinstance(file.old_text, str) else None
    is_binary = file.binary is True or (before is not None and before.is_binary)
    return FileChange(file.path, before.old_text if before else old, new, is_binary)
