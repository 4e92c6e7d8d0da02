"""One step of a turn, as seen by the stages that follow it."""

from msgspec import Struct

from hermes_acp.core.event_types import CallStatus
from hermes_acp.core.messages import ModelReply


class CallOutcome(Struct, frozen=True):
    """The outcome of one call.

    `call` is the tool with its arguments in canonical form, so that equal calls compare equal. A call that could not be
    parsed, or that repeats another call of its step, was not carried out.
    """

    name: str
    call: str
    status: CallStatus
    text: str
    is_understood: bool = False
    is_cheap: bool = False
    is_repeat: bool = False


class TurnStep(Struct, frozen=True):
    """A model's answer with the outcomes of its calls, in order."""

    reply: ModelReply
    outcomes: tuple[CallOutcome, ...] = ()
