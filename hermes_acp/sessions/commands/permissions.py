"""`/permissions`: show or revoke the standing answers that apply here."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.event_types import Grant, GrantsRevoked
from hermes_acp.policy.grants import describe_grant
from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


class _Answer(Struct, frozen=True):
    """A standing answer, and whether it applies to every session in the folder."""

    grant: Grant
    is_lasting: bool

    @property
    def line(self) -> str:
        """The answer's scope, on one line."""
        verb = "Allowed" if self.grant.allowed else "Refused"
        scope = "in every session of this folder" if self.is_lasting else "in this session"
        return f"{verb} {scope}: {' '.join(describe_grant(self.grant).split())}"


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """List the answers, or revoke those that `words` name by number. Raises StorageError."""
    place = turn.record.cwd
    answers = _answers(turn.record.grants, await run_sync(services.workspace_trust.grants, place))
    action, *named = words.lower().split() or [""]
    if not answers:
        return "You have given no standing answers here."
    if action not in ("revoke", "forget", "remove"):
        listed = "\n".join(f"{number}. {each.line}" for number, each in enumerate(answers, 1))
        return f"Your standing answers here (`/permissions revoke NUMBER`, or `all`):\n\n{listed}"
    chosen = _chosen(answers, named)
    if not chosen:
        return f"Which answers? Pass numbers from 1 to {len(answers)}, or `all`."
    if lasting := [each.grant for each in chosen if each.is_lasting]:
        await run_sync(_forget, services, place, lasting)
    turn.emit(GrantsRevoked(tuple(each.grant for each in chosen)))
    listed = "\n".join(f"- {each.line}" for each in chosen)
    return f"You will be asked again about:\n\n{listed}"


def _answers(own: Sequence[Grant], lasting: Sequence[Grant]) -> list[_Answer]:
    """Return every answer once, because those for the folder are also in their session's record."""
    subjects = {(grant.kind, grant.subject) for grant in lasting}
    here = [_Answer(grant, is_lasting=False) for grant in own if (grant.kind, grant.subject) not in subjects]
    return [*here, *(_Answer(grant, is_lasting=True) for grant in lasting)]


def _chosen(answers: Sequence[_Answer], named: Sequence[str]) -> Sequence[_Answer]:
    """Return the answers with the given numbers, or nothing if any number is invalid."""
    if named == ["all"]:
        return answers
    numbers = [int(each) for each in named if each.isdecimal() and 1 <= int(each) <= len(answers)]
    if len(numbers) != len(named):
        return ()
    return [answers[number - 1] for number in dict.fromkeys(numbers)]


def _forget(services: CommandServices, place: str, grants: Sequence[Grant]) -> None:
    gone = {(grant.kind, grant.subject) for grant in grants}

    def without(kept: tuple[Grant, ...]) -> tuple[Grant, ...]:
        return tuple(each for each in kept if (each.kind, each.subject) not in gone)

    services.workspace_trust.answers.change(os.path.realpath(place), without)


COMMAND = PromptCommand(
    "Show your standing answers here, and revoke them", "revoke NUMBER, or revoke all", run
)
