"""The tools of one session.

Knows: which tools there are, how a call's name and arguments are checked. Does not know: what a tool does.
What a model got wrong is answered in words it can act on.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

import msgspec

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import ToolKind
from hermes_acp.core.messages import ToolCall, ToolSchema
from hermes_acp.core.ports import Tool

if TYPE_CHECKING:
    from pydantic import ValidationError


class Toolbox:
    """Named tools, in a fixed order so that a prompt's bytes never change."""

    def __init__(self, tools: Mapping[str, Tool], further: Mapping[str, Tool] | None = None) -> None:
        """Hold the tools by name, and further ones behind them; a name is given to the first that has it."""
        own = dict(sorted(tools.items()))
        self._tools = own | {name: tool for name, tool in sorted((further or {}).items()) if name not in own}
        self.schemas: tuple[ToolSchema, ...] = tuple(tool.schema() for tool in self._tools.values())

    def extended(self, further: Mapping[str, Tool]) -> "Toolbox":
        """Give a toolbox with further tools behind these; this one stays as it is."""
        return Toolbox(self._tools, further)

    def understand(self, call: ToolCall) -> tuple[Tool, Any]:
        """Give the tool and its checked arguments. Raises BadRequest, in words for the model."""
        from pydantic import ValidationError

        tool = self._tools.get(call.name)
        if tool is None:
            near = get_close_matches(call.name, self._tools, n=1)
            known = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(self._tools)}."
            raise BadRequest(f"There is no tool {call.name[:80]!r}.", hint=known)
        try:
            plain = msgspec.json.decode(call.arguments or "{}")
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadRequest(
                f"The arguments of {call.name} are not valid JSON ({error}).", hint="Send the call again."
            ) from error
        if not isinstance(plain, dict):
            raise BadRequest(
                f"The arguments of {call.name} must be one JSON object.", hint="Send the call again."
            )
        if isinstance(tool.arguments, dict):
            return tool, cast("dict[str, object]", plain)
        try:
            return tool, tool.arguments.model_validate(plain)
        except ValidationError as error:
            raise BadRequest(f"Wrong arguments for {call.name}: {_mistakes(error)}.") from error

    def kind_of(self, call: ToolCall) -> ToolKind:
        """Give the kind of the tool a call names; `other` for a name that is none."""
        tool = self._tools.get(call.name)
        return tool.kind if tool else "other"


def _mistakes(error: "ValidationError") -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in mistake['loc']) or 'arguments'}: {mistake['msg']}"
        for mistake in error.errors(include_input=False, include_url=False, include_context=False)[:5]
    )
