"""Validate the arguments of a custom tool call against the tool's JSON Schema."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

MAX_ERROR_CHARS: Final = 300
LEFT_TO_THE_TOOL: Final = (
    *("$ref", "$dynamicRef", "unevaluatedItems", "unevaluatedProperties"),
    *("pattern", "patternProperties"),
)
"""Keywords that are not checked: references, which the library would fetch, and patterns, which may never finish."""


def validation_errors(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the validation errors, each with its location. Blocks; the first call loads jsonschema."""
    validator = _validator_class()({"additionalProperties": False, **schema})
    return [_describe(error) for error in validator.iter_errors(dict(arguments))]


def schema_error(schema: Mapping[str, Any]) -> str:
    """Return why a schema is invalid, or an empty string. Blocks; the first call loads jsonschema."""
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator(
        Draft202012Validator.META_SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    return next(map(_describe, validator.iter_errors(dict(schema))), "")


@cache
def _validator_class() -> Any:
    from jsonschema import Draft202012Validator, validators

    library: Any = validators
    checks_additional: Any = Draft202012Validator.VALIDATORS["additionalProperties"]

    def additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if "patternProperties" not in schema:
            yield from checks_additional(validator, value, instance, schema)

    def ignored(*_: object) -> None:
        return None

    overrides: dict[str, Any] = dict.fromkeys(LEFT_TO_THE_TOOL, ignored)
    return library.extend(Draft202012Validator, {**overrides, "additionalProperties": additional})


def _describe(error: Any) -> str:
    place = error.json_path.removeprefix("$.").removeprefix("$") or "arguments"
    return f"{place}: {_shortened(error.message)}"


def _shortened(message: str) -> str:
    """Shorten a message to its end, which says what was expected, while the value comes first."""
    return message if len(message) <= MAX_ERROR_CHARS else f"…{message[-MAX_ERROR_CHARS:]}"
