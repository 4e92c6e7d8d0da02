"""List the edits made without asking that are open for review, and submit the person's verdicts."""

from typing import Literal

from hermes_acp_client.agent import Agent

from hermes_acp.core.hunks import Hunk
from hermes_protocol import own, v1

Verdict = Literal["accepted", "rejected"]


async def open_edits(agent: Agent, session_id: str) -> list[own.EditsListFile]:
    """List the files with edits to review. Raises AgentError."""
    params = own.EditsListParams(session_id=session_id)
    return (await agent.call("_hermes/edits/list", params, own.EditsListResult)).files


async def submit_verdict(
    agent: Agent, session_id: str, file: own.EditsListFile, hunks: list[int], verdict: Verdict
) -> None:
    """Keep or revert the hunks of a file with these numbers in the list. Raises AgentError."""
    params = own.EditsJudgeParams(
        session_id=session_id, verdict=verdict, path=file.path, hunks=hunks, revision=file.revision
    )
    await agent.call("_hermes/edits/judge", params, own.EditsJudgeResult)


def diff_of(file: own.EditsListFile) -> v1.Diff:
    """Convert a file's edits to a diff."""
    return v1.Diff(path=file.path, old_text=file.old_text, new_text=file.new_text or "")


def hunk_of(hunk: own.EditsListFileHunk) -> Hunk:
    """Convert a listed hunk to the type used for display."""
    return Hunk(hunk.old_start, tuple(hunk.old_lines), hunk.new_start, tuple(hunk.new_lines))
