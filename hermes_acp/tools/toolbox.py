"""The tools of one session.

A model's mistakes are answered with messages that it can act on. Only unambiguous faults are fixed here: the spelling
of a name, and malformed JSON (`json_repair`).
"""

import re
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import UNNAMED, ToolCall, ToolSchema
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.tools.deferred.argument_check import argument_mistakes
from hermes_acp.tools.deferred.tool_names import full_name
from hermes_acp.tools.deferred.wrapped_calls import CALL_TOOL, inner_call

if TYPE_CHECKING:
    from pydantic import ValidationError

MAX_MISTAKES: Final = 5
MAX_MISTAKE_CHARS: Final = 300
MAX_SCHEMA_CHARS: Final = 8000
_NAMESPACE = re.compile(r"(?:functions|tools|default_api)[.:/]", re.IGNORECASE)
_SEPARATORS = re.compile(r"[-_\s]+")


class ParsedCall(Struct, frozen=True):
    """A call that can be performed: its tool, the arguments as the tool expects them, and as plain JSON."""

    tool: Tool
    arguments: Any
    plain: dict[str, object]

    def spelled(self) -> str:
        """Return the call in canonical form, identical for equal calls."""
        return f"{self.tool.name} {msgspec.json.encode(self.plain, order='deterministic').decode()}"


class Toolbox:
    """Named tools in a fixed order, so that the bytes of a prompt never change."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        further: Mapping[str, Tool] | None = None,
        *,
        described: Mapping[str, ToolSchema] | None = None,
        deferred: Set[str] = frozenset(),
    ) -> None:
        """Initialise with tools; the first tool with a given name wins.

        The schemas of `deferred` tools are not in requests, but these tools can be called through `call_tool`. A tool
        whose required tool is missing is left out, as are those that need it. The schemas of tools that are not in
        `described` are created here, which is most of the cost of a toolbox.
        """
        own = dict(sorted(tools.items()))
        own |= {name: tool for name, tool in sorted((further or {}).items()) if name not in own}
        self._tools = _usable(own)
        known = described or {}
        self._described = {name: known.get(name) or tool.schema() for name, tool in self._tools.items()}
        self._deferred = frozenset(deferred & self._tools.keys() if CALL_TOOL in self._tools else ())
        self.schemas: tuple[ToolSchema, ...] = tuple(
            schema for name, schema in self._described.items() if name not in self._deferred
        )
        self.deferred_schemas: tuple[ToolSchema, ...] = tuple(
            schema for name, schema in self._described.items() if name in self._deferred
        )

    def extended(self, further: Mapping[str, Tool], *, deferred: Set[str] = frozenset()) -> "Toolbox":
        """Return a toolbox with more tools after these, leaving this one unchanged.

        The `deferred` ones are left out of requests.
        """
        return Toolbox(
            self._tools,
            further,
            described=self._described,
            deferred=self._deferred | (deferred - self._tools.keys()),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in order."""
        return tuple(self._tools)

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools that are not deferred, in order."""
        return tuple(schema.name for schema in self.schemas)

    def only(self, names: Iterable[str]) -> "Toolbox":
        """Return a toolbox with only the named tools."""
        kept = {name: self._tools[name] for name in names}
        return Toolbox(kept, described=self._described, deferred=self._deferred)

    def find(self, name: str) -> Tool | None:
        """Find a tool by its name, ignoring case, separators and namespaces."""
        if name in self._tools:
            return self._tools[name]
        bare = _folded(_NAMESPACE.sub("", name, count=1))
        alike = [tool for known, tool in self._tools.items() if _folded(known) == bare]
        if not alike and (meant := full_name(name, self._deferred)):
            return self._tools[meant]
        return alike[0] if len(alike) == 1 else None

    def parse_call(self, call: ToolCall) -> ParsedCall:
        """Return the tool and its checked arguments. Raises BadRequest with a message for the model."""
        tool = self.find(call.name)
        if tool is None and call.name in ("", UNNAMED):
            raise BadRequest(
                "The call could not be read: it does not name a tool.",
                hint="Send it again as one JSON object with the tool's name and its arguments.",
            )
        if tool is None:
            raise BadRequest(f"There is no tool {call.name[:80]!r}.", hint=self._nearest(call.name))
        try:
            plain = _read(call)
        except BadRequest:
            from hermes_acp.tools.json_repair import repair_json

            mended = repair_json(call.arguments)
            if mended is None or (arguments := _fitting(tool, mended)) is None:
                raise
            return ParsedCall(tool, arguments, mended)
        if tool.name in self._deferred:
            _check_unread(tool, plain)
        return ParsedCall(tool, _check(tool, plain), plain)

    def mended(self, call: ToolCall) -> ToolCall:
        """Return a call whose almost valid JSON arguments are replaced by their interpretation.

        A call of `call_tool` becomes the call that it describes.
        """
        call = self._valid(call)
        if CALL_TOOL not in self._tools or self.find(call.name) is not self._tools[CALL_TOOL]:
            return call
        with suppress(BadRequest, UnicodeError):
            if inner := inner_call(call, _read(call)):
                meant = self.find(inner.name)
                return self._valid(structs.replace(inner, name=meant.name) if meant else inner)
        return call

    def _valid(self, call: ToolCall) -> ToolCall:
        try:
            _read(call)
        except UnicodeError:
            return call  # a lone surrogate: recorded as a whole character, then read again
        except BadRequest:
            with suppress(BadRequest):
                plain = self.parse_call(call).plain
                return structs.replace(call, arguments=msgspec.json.encode(plain).decode())
        return call

    def _nearest(self, name: str) -> str:
        if not self._tools:
            return "No tools can be used now."
        if near := get_close_matches(name, self._tools, n=1):
            return f"Did you mean {near[0]!r}?"
        there = f"The tools are: {', '.join(self.offered)}."
        return f"{there} Others can be found with tool_search." if self._deferred else there

    def kind_of(self, call: ToolCall) -> ToolKind:
        """Return the kind of the tool a call names, or `other` for an unknown name."""
        tool = self.find(call.name)
        return tool.kind if tool else "other"


def _usable(tools: dict[str, Tool]) -> dict[str, Tool]:
    kept = {name: tool for name, tool in tools.items() if tool.tool_metadata.needs <= tools.keys()}
    return kept if len(kept) == len(tools) else _usable(kept)


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


def _read(call: ToolCall) -> dict[str, object]:
    try:
        plain = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError) as error:
        from hermes_acp.tools.json_repair import has_lone_surrogate, json_shape

        if json_shape(call.arguments)[0] == "cut_off":
            raise BadRequest(
                f"The arguments of {call.name} are not valid JSON: they are cut off.",
                hint="Send the whole call again; in smaller parts if it is long.",
            ) from error
        why = "they contain an escape for half a character" if has_lone_surrogate(call.arguments) else error
        raise BadRequest(
            f"The arguments of {call.name} are not valid JSON ({why}).", hint="Send the call again."
        ) from error
    if not isinstance(plain, dict):
        raise BadRequest(
            f"The arguments of {call.name} must be one JSON object.", hint="Send the call again."
        )
    return cast("dict[str, object]", plain)


def _check(tool: Tool, plain: dict[str, object]) -> Any:
    """Return the arguments as the tool expects them; a tool with its own JSON Schema checks them itself."""
    from pydantic import ValidationError

    if isinstance(tool.arguments, dict):
        return plain
    try:
        return tool.arguments.model_validate(plain)
    except ValidationError as error:
        raise BadRequest(f"Wrong arguments for {tool.name}: {_mistakes(error)}.") from error


def _check_unread(tool: Tool, plain: dict[str, object]) -> None:
    """Check the arguments of a tool whose schema the model may not have read. Raises BadRequest with the schema."""
    schema = tool.schema()
    mistakes = list(islice(argument_mistakes(schema.parameters, plain), MAX_MISTAKES))
    if mistakes:
        shown = msgspec.json.encode(schema.parameters).decode()
        parameters = shown if len(shown) <= MAX_SCHEMA_CHARS else "shown by tool_search"
        raise BadRequest(
            f"Wrong arguments for {tool.name}: {'; '.join(mistakes)}.", hint=f"Its parameters: {parameters}"
        )


def _fitting(tool: Tool, mended: dict[str, object]) -> Any:
    """Return repaired arguments as the tool expects them, or None if they do not fit."""
    schema = tool.arguments
    if isinstance(schema, dict):
        required = cast("list[str]", schema.get("required") or [])
        return mended if all(name in mended for name in required) else None
    try:
        return _check(tool, mended)
    except BadRequest:
        return None


def _mistakes(error: "ValidationError") -> str:
    mistakes = error.errors(include_input=False, include_url=False, include_context=False)
    told = "; ".join(
        f"{'.'.join(str(part) for part in mistake['loc']) or 'arguments'}: {mistake['msg']}"[
            :MAX_MISTAKE_CHARS
        ]
        for mistake in mistakes[:MAX_MISTAKES]
    )
    left = len(mistakes) - MAX_MISTAKES
    return f"{told}; and {left} more" if left > 0 else told
