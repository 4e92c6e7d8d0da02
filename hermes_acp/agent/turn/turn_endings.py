"""All the ways a turn can end, each with a sentence for the user."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from hermes_acp.core.event_types import ExitReason


class Ending(Struct, frozen=True):
    """The reason why a turn stopped; `sentence` is for the user, and empty if nothing needs explaining."""

    reason: ExitReason
    sentence: str = ""
    error_code: str = ""


SENTENCES: Final[Mapping[ExitReason, str]] = MappingProxyType(
    {
        "done": "",
        "refused": "The model declined to answer this.",
        "truncated": "The answer was cut off at the model's output limit.",
        "out_of_steps": "The turn reached its step limit.",
        "out_of_tokens": "The turn reached its token limit.",
        "out_of_money": "The turn reached its cost limit.",
        "out_of_time": "The turn reached its time limit.",
        "cancelled": "The turn was stopped.",
        "denied": "A tool call needed approval, but nobody is available to give it.",
        "bad_calls": "Stopped because the model's tool calls could not be understood for several steps in a row.",
        "looping": "Stopped because the model repeated the same call without making progress.",
        "empty": "Stopped because the model gave no answer several times in a row.",
        "model_trouble": "The model could not be reached or failed.",
        "storage_trouble": "The session's record could not be written.",
        "input_required": "The turn is waiting for an answer.",
        "gave_up": "The turn ended because of an internal error in the agent. Everything up to then is kept.",
    }
)
_WITHOUT_CODE: Final = frozenset({"done", "cancelled", "input_required"})


def make_ending(reason: ExitReason, sentence: str = "", error_code: str = "") -> Ending:
    """Return an ending; by default, its sentence is the standard one and its code is the reason."""
    code = error_code or ("" if reason in _WITHOUT_CODE else reason)
    return Ending(reason, sentence or SENTENCES[reason], code)
