"""Validate the arguments of a custom tool call against the JSON Schema of the tool's signature."""

from collections.abc import Mapping
from typing import Any, Final

MAX_ERROR_CHARS: Final = 300


def validation_errors(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the validation errors, each with its location. Blocks; the first call loads jsonschema."""
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator({"additionalProperties": False, **schema})
    return [
        f"{error.json_path.removeprefix('$.').removeprefix('$') or 'arguments'}: {_shortened(error.message)}"
        for error in validator.iter_errors(dict(arguments))
    ]


def _shortened(message: str) -> str:
    """Shorten a message to its end: the value comes first and what was expected comes last."""
    return message if len(message) <= MAX_ERROR_CHARS else f"…{message[-MAX_ERROR_CHARS:]}"
