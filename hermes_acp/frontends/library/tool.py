"""Describe a function of the host program as a tool: its capabilities, and the schema built from its signature."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from inspect import Parameter
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ToolSchema
from hermes_acp.frontends.library import messages

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T", bound=str)
FunctionCapability = Literal["files", "network", "processes"]
Approval = Literal["always", "when_needed", "never"]
CAPABILITIES: Final[tuple[FunctionCapability, ...]] = ("files", "network", "processes")
APPROVALS: Final[tuple[Approval, ...]] = ("always", "when_needed", "never")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
BY_NAME: Final = frozenset({Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY})


class Tool(Struct, frozen=True, kw_only=True):
    """A function that the model may call.

    `name` and `description` default to the function's name and docstring. The parameters need type annotations, from
    which pydantic builds the schema. An action that exceeds `capabilities` is refused. `approval` says whether calls
    need approval: `always`, `never`, or if policy requires it. A call fails after `timeout_s` seconds; a function that
    is not async may still be running then.
    """

    function: Callable[..., Any]
    name: str = ""
    description: str = ""
    capabilities: tuple[FunctionCapability, ...] | list[FunctionCapability] = ()
    approval: Approval = "when_needed"
    timeout_s: float | None = None


class CheckedTool:
    """A tool with a valid name and a schema, which can be offered to the model."""

    def __init__(self, tool: Tool) -> None:
        """Check the tool. Raises BadRequest, which says what is wrong."""
        self.function = tool.function
        if not callable(self.function):
            raise BadRequest(messages.not_callable(tool.function))
        self.name = tool.name or str(getattr(tool.function, "__name__", ""))
        if not NAME.fullmatch(self.name):
            raise BadRequest(messages.bad_tool_name(self.name))
        self.description = (tool.description or _first_paragraph(tool.function)).strip()
        if not self.description:
            raise BadRequest(messages.no_description(self.name), hint=messages.DESCRIPTION_HINT)
        self.capabilities: tuple[FunctionCapability, ...] = _chosen(
            self.name, "capabilities", tool.capabilities, CAPABILITIES
        )
        approvals: tuple[Approval, ...] = _chosen(self.name, "approval", (tool.approval,), APPROVALS)
        self.approval: Approval = approvals[0]
        if tool.timeout_s is not None and not tool.timeout_s > 0:
            raise BadRequest(messages.bad_timeout(self.name, tool.timeout_s))
        self.timeout_s = tool.timeout_s
        self._annotations = _annotations(self.name, tool.function)
        self.arguments = _argument_model(self.name, self._annotations)

    @cached_property
    def schema(self) -> ToolSchema:
        """The tool as the model sees it."""
        from hermes_acp.tools.tool_schemas import schema_of

        return schema_of(self.name, self.description, self.arguments)

    def keywords(self, arguments: "BaseModel") -> dict[str, Any]:
        """Return the arguments of a call by parameter name."""
        return {name: getattr(arguments, _field(at)) for at, name in enumerate(self._annotations)}


def _chosen(name: str, what: str, chosen: Iterable[object], known: tuple[T, ...]) -> tuple[T, ...]:
    """Return the chosen values, each once. Raises BadRequest for an unknown value, or a string instead of a list."""
    if isinstance(chosen, str):
        raise BadRequest(messages.not_a_list(name, what, chosen, known))
    values = tuple(chosen)
    for value in values:
        if value not in known:
            raise BadRequest(messages.bad_choice(name, what, value, known))
    return tuple(value for value in known if value in values)


def _first_paragraph(function: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def _annotations(name: str, function: Callable[..., Any]) -> Mapping[str, tuple[Any, Any]]:
    """Return each parameter's type and default. Raises BadRequest for a parameter that a model cannot pass."""
    try:
        signature = inspect.signature(function)
        hints = get_type_hints(_annotated(function), include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise BadRequest(messages.no_signature(name, error), hint=messages.SIGNATURE_HINT) from error
    found: dict[str, tuple[Any, Any]] = {}
    for each in signature.parameters.values():
        if each.kind not in BY_NAME:
            raise BadRequest(messages.not_by_name(name, str(each)), hint=messages.SIGNATURE_HINT)
        if each.name not in hints:
            raise BadRequest(messages.no_annotation(name, each.name), hint=messages.SIGNATURE_HINT)
        default = ... if each.default is Parameter.empty else each.default
        found[each.name] = (hints[each.name], default)
    return found


def _annotated(function: Callable[..., Any]) -> Any:
    """Return the function with the annotations, unwrapping partials and callable objects."""
    inner: Any = getattr(function, "func", function)
    if inspect.isroutine(inner) or inspect.isclass(inner):
        return inspect.unwrap(inner)
    return type(inner).__call__


def _argument_model(name: str, annotations: Mapping[str, tuple[Any, Any]]) -> "type[BaseModel]":
    """Build the pydantic model that validates the arguments. Raises BadRequest for a type without a schema."""
    from pydantic import ConfigDict, Field, create_model
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    # A parameter may have the same name as a model attribute, so the fields get other names.
    fields: dict[str, Any] = {
        _field(at): (_with_description(annotation), Field(default, alias=parameter))
        for at, (parameter, (annotation, default)) in enumerate(annotations.items())
    }
    try:
        model = create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
        model.model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise BadRequest(messages.no_schema(name, error), hint=messages.SIGNATURE_HINT) from error
    return model


def _field(at: int) -> str:
    return f"argument_{at}"


def _with_description(annotation: Any) -> Any:
    """Turn the plain text in an annotation such as `Annotated[str, "The address"]` into a description."""
    from pydantic import Field

    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *notes = get_args(annotation)
    for note in notes:
        kind = Annotated[kind, Field(description=note) if isinstance(note, str) else note]
    return kind
