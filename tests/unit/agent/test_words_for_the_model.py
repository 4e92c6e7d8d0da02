"""Messages about calls: advice for the model is not shown to the user."""

import re
from typing import Final

import pytest

from hermes_acp.agent.calls import call_messages
from hermes_acp.agent.calls.call_messages import CallNote, note_of
from hermes_acp.agent.calls.tool_calls import outcome_of
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.proposals import Result
from hermes_acp.tools.builtin import ask_user, memory

pytestmark = pytest.mark.anyio
ADVICE: Final = re.compile(
    r"\b(do not|don't|try (another|again)|ask (them|the user|what)|read it again|send it again|continue|instead"
    r"|another approach|make this call|end the turn|say this|decide on|check (the|before))\b",
    re.IGNORECASE,
)
NOTES: Final = {
    f"{module.__name__.rpartition('.')[2]}.{name}": note
    for module in (call_messages, ask_user, memory)
    for name, note in vars(module).items()
    if isinstance(note, CallNote | Result)
}


@pytest.mark.parametrize("name", NOTES)
def test_a_notes_advice_is_for_the_model_alone(name: str) -> None:
    note = NOTES[name]
    assert not ADVICE.search(note.text), note.text
    assert len(NOTES) > 15


async def test_the_hint_about_a_failed_call_is_for_the_model() -> None:
    error = WorkspaceError("a.py has changed.", hint="Read it again, then decide.")
    assert note_of(error) == CallNote("a.py has changed.", "Read it again, then decide.")

    async def fail() -> Result:
        raise error

    assert await outcome_of(fail) == Result(
        "a.py has changed.", is_error=True, advice="Read it again, then decide."
    )
