"""Explain errors in a settings file to the person who wrote it.

A value is shown only if it cannot be a secret: a number, or one of several named choices.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

MAX_ERRORS: Final = 5
SHOWN_CHARACTERS: Final = 40
KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "is missing",
        "bool_type": "must be true or false",
        "bool_parsing": "must be true or false",
        "string_type": "must be text; put it in quotation marks",
        "int_type": "must be a whole number",
        "int_parsing": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_type": "must be a number",
        "float_parsing": "must be a number",
        "dict_type": "must be `name: value` lines",
        "model_type": "must be `name: value` lines",
        "tuple_type": "must be a list",
        "list_type": "must be a list",
    }
)

URL_WANTED: Final = "must be a URL starting with http:// or https://"
INVALID: Final = "is not valid"
PATTERNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        r"^https?://[^\s]+$": URL_WANTED,
        r"^https?://\S+$": URL_WANTED,
        r"^(https://[^\s/]+/[^\s]+)?$": "must be a URL with a path, starting with https://",
        r"^[A-Za-z0-9_-]{1,64}$": "must be 1 to 64 letters, digits, - and _",
        r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$": "must be up to 32 letters, digits, -, _ and ., first a letter or digit",
        r"^[a-z0-9][a-z0-9_-]{0,31}$": "must be up to 32 lower-case letters, digits, - and _",
        r"^[^@\s<>]+@[^@\s<>]+$": "must be an address such as agent@example.org",
        r"^[A-Za-z0-9_.:-]+$": "must be the name or the address of a server",
        r"^@[^:\s]+:[^\s]+$": "must be an account such as @agent:example.org",
        r"^AC[0-9a-f]{32}$": "must be an account SID: AC and 32 digits",
        r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$": "must be an ID of 36 lower-case hexadecimal digits and dashes",
        r"^\+[1-9]\d{4,14}$": "must be a number such as +15551234567",
        r"^[A-Za-z0-9_.:-]+:\d{1,5}$": "must be a host and a port such as 127.0.0.1:8712",
        r"^/[^\x00-\x1f]*$": "must be an absolute path",
        r"^[A-Za-z0-9_][^\s\x00-\x1f]*$": "must start with a letter, a digit or _, and contain no spaces",
        r"^[A-Za-z0-9][\w.-]*$": "must start with a letter or a digit, and contain only letters, digits, -, _ and .",
        r"^[^\x00]*[^\x00\s][^\x00]*$": "must be a command",
        r"^(?:[A-Za-z0-9_-]{1,32}|[a-z]+:\S+)$": "must be a person's name, or a platform and a room such as irc:#team",
        r"^[a-z]{2,3}$": "must be a language's code, such as en",
        r"^[^@/\s]+@[^@/\s]+$": "must be an address without a resource, such as agent@example.org",
        r"^[#&+!][^\s,\x07]+$": "must be a channel, such as #agent",
        r"^[^\s:#&@!,*?+~%-][^\s:@!,*?]{0,29}$": "must be a nick of up to 30 characters",
        r"^[^\s:]*$": "must contain no spaces and no colon",
        r"^[^-\s]\S*$": "must not start with -, and contain no spaces",
    }
)
"""Explanations of the patterns that settings must match."""


def describe_settings_errors(
    error: ValidationError,
    model: type[BaseModel],
    line_of: Callable[[Sequence[str | int]], int] | None = None,
) -> str:
    """Describe the errors in sentences, each with the name of its setting and, with `line_of`, its line in the file."""
    mistakes = error.errors(include_url=False)
    told = [describe_mistake(cast("Mapping[str, Any]", mistake), model) for mistake in mistakes[:MAX_ERRORS]]
    if line_of is not None:
        lines = (line_of(place_of(cast("Mapping[str, Any]", mistake))) for mistake in mistakes)
        told = [f"line {line}: {sentence}" for line, sentence in zip(lines, told, strict=False)]
    more = len(mistakes) - MAX_ERRORS
    sentence = "; ".join(told) + (f"; and {more} more" if more > 0 else "")
    return sentence if sentence.endswith("?") else f"{sentence}."


def describe_mistake(mistake: Mapping[str, Any], model: type[BaseModel]) -> str:
    """Describe one validation error, including the name of its setting; without a full stop."""
    place = place_of(mistake)
    name = f"`{'.'.join(str(part) for part in place)}`"
    context: Mapping[str, Any] = mistake.get("ctx", {})
    match mistake["type"]:
        case "extra_forbidden":
            near = get_close_matches(str(place[-1]), _names_at(place[:-1], model), 1)
            return f"{name} is not a setting" + (f"; did you mean `{near[0]}`?" if near else "")
        case "literal_error":
            return f"{name} must be {context['expected']}{_shown(mistake['input'])}"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal" as kind:
            bound = {
                "greater_than": ("more than", "gt"),
                "greater_than_equal": ("at least", "ge"),
                "less_than": ("less than", "lt"),
                "less_than_equal": ("at most", "le"),
            }[kind]
            return f"{name} must be {bound[0]} {context[bound[1]]:g}{_shown(mistake['input'])}"
        case "unknown_provider":
            return f"{name}: {context['reason']}"
        case "value_error":
            return f"{name}: {context['error']}"
        case "string_pattern_mismatch":
            return f"{name} {PATTERNS.get(context['pattern'], INVALID)}"
        case kind:
            return f"{name} {KINDS[kind]}" if kind in KINDS else f"{name}: {mistake['msg']}"


def place_of(mistake: Mapping[str, Any]) -> Sequence[str | int]:
    """Return the path of the invalid setting; an error that involves several settings includes the path."""
    named: str = mistake.get("ctx", {}).get("place", "")
    return [int(part) if part.isdigit() else part for part in named.split(".")] if named else mistake["loc"]


def _shown(written: object) -> str:
    """Format a value for display if it is a number or a short word."""
    if isinstance(written, int | float):
        return f", not {written}"
    is_word = isinstance(written, str) and len(written) <= SHOWN_CHARACTERS and written.isidentifier()
    return f", not {written!r}" if is_word else ""


def _names_at(place: Sequence[str | int], model: type[BaseModel]) -> list[str]:
    """Return the valid names in a section, if the path to it is unambiguous."""
    for part in place:
        default = model.model_fields[str(part)].default if str(part) in model.model_fields else None
        if not isinstance(default, BaseModel):
            return []
        model = type(default)
    return list(model.model_fields)
