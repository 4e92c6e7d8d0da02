"""Errors in the arguments of a custom tool's call, by the JSON Schema that its signature became."""

from collections.abc import Mapping
from typing import Any, Final

MAX_ERROR_CHARS: Final = 300


def validation_errors(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return what does not fit, each with its place. Blocks; the first call loads jsonschema."""
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator({"additionalProperties": False, **schema})
    return [
        f"{error.json_path.removeprefix('$.').removeprefix('$') or 'arguments'}: {_shortened(error.message)}"
        for error in validator.iter_errors(dict(arguments))
    ]


def _shortened(message: str) -> str:
    """Keep the end of a long message: the value comes first, what it should have been last."""
    return message if len(message) <= MAX_ERROR_CHARS else f"…{message[-MAX_ERROR_CHARS:]}"
