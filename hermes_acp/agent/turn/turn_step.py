"""One step of a turn, as the stages after it see it."""

from msgspec import Struct

from hermes_acp.core.event_types import CallStatus
from hermes_acp.core.messages import ModelReply


class CallOutcome(Struct, frozen=True):
    """The outcome of one call.

    `call` is the tool and its arguments in one spelling, so that equal calls are equal. A call that was not
    understood, or that repeats another of its step, was not carried out.
    """

    name: str
    call: str
    status: CallStatus
    text: str
    is_understood: bool = False
    is_cheap: bool = False
    is_repeat: bool = False


class TurnStep(Struct, frozen=True):
    """One answer of the model with the outcomes of its calls, in their order."""

    reply: ModelReply
    outcomes: tuple[CallOutcome, ...] = ()
