"""Decide which calls of a step run; reject incomplete, malformed, repeated or excessive ones."""

from collections import Counter

from msgspec import Struct

from hermes_acp.agent.calls.call_messages import CUT_OFF, REPEATED, TOO_MANY, CallNote
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ToolCall
from hermes_acp.tools.toolbox import ParsedCall, Toolbox


class RejectedCall(Struct, frozen=True):
    """A call that will not run, and the reason; if it duplicates an earlier call, `repeats` is that call's number."""

    why: CallNote
    is_understood: bool = False
    repeats: int | None = None


class CallFilter:
    """Filters the calls of one step, which must be passed to it in order."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._admitted: Counter[str] = Counter()
        self._numbers: dict[str, int] = {}

    def admit(self, call: ToolCall, number: int, *, is_cut_off: bool) -> ParsedCall | RejectedCall:
        """Parse a call, or return why it is rejected.

        `is_cut_off` means that the model's answer ended in the middle of the call. Once a call that may change
        something has been admitted, earlier calls may be repeated.
        """
        if is_cut_off:
            return RejectedCall(CUT_OFF)
        try:
            understood = self._toolbox.parse_call(call)
        except BadRequest as mistake:
            return RejectedCall(CallNote(mistake.sentence()))
        spelled = understood.spelled()
        if (earlier := self._numbers.get(spelled)) is not None:
            return RejectedCall(REPEATED, is_understood=True, repeats=earlier)
        tool = understood.tool
        most = tool.tool_metadata.max_per_step
        if most is not None and self._admitted[tool.name] >= most:
            return RejectedCall(TOO_MANY.format(most=most, name=tool.name), is_understood=True)
        self._admitted[tool.name] += 1
        if not tool.tool_metadata.is_cheap:
            self._numbers.clear()
        self._numbers[spelled] = number
        return understood
