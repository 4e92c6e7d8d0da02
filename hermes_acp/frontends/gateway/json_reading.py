"""Parse JSON from services that write null for missing values."""

from typing import Any, cast


def without_nulls(value: Any) -> Any:
    """Remove null members from JSON."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {key: without_nulls(each) for key, each in pairs if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in cast("list[Any]", value)]
    return value
