"""Run the user's hooks on a prompt before it is recorded, so that a refused prompt never reaches a model."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.core.events import Noticed, TurnEnded
from hermes_acp.core.flow_labels import Source, SourcesRead
from hermes_acp.core.messages import Part, words_in
from hermes_acp.core.ports.session_ports import EquippedSession
from hermes_acp.sessions.session_services import SessionLifecycle


class CheckedPrompt(Struct, frozen=True):
    """The ending of the turn if the prompt was refused, or else the hooks' notes for the model."""

    refusal: TurnEnded | None = None
    notes: tuple[str, ...] = ()


UNCHECKED: Final = CheckedPrompt()


async def check_prompt(
    session: EquippedSession,
    lifecycle: SessionLifecycle,
    turn_id: str,
    parts: Sequence[Part],
    clean: Callable[[str], str],
) -> CheckedPrompt:
    """Run the hooks on a prompt; `clean` masks secrets. A refusal is shown to the user and ends the turn."""
    verdict = await lifecycle.check_prompt(session, turn_id, clean(words_in(parts)), clean)
    if verdict is None:
        return UNCHECKED
    if verdict.refusal:
        session.ledger.emit(Noticed("warning", verdict.refusal))
        return CheckedPrompt(TurnEnded(turn_id, "refused", verdict.refusal, "refused"))
    sources = [Source("untrusted", f"the output of the {hook.label}") for hook in verdict.speakers]
    if fresh := session.record.exposure.missing(sources):
        session.ledger.emit(SourcesRead(fresh))
    return CheckedPrompt(notes=verdict.texts)
