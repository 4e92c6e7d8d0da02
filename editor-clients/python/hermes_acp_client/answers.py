"""Answers to the agent's requests, in the plain JSON form that both clients use."""

from collections.abc import Collection, Mapping
from typing import Any, Final

READ_FILE: Final = "fs/read_text_file"
WRITE_FILE: Final = "fs/write_text_file"
TERMINAL_METHODS: Final = frozenset(
    {"terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"}
)


def capabilities_of(served: Collection[str]) -> dict[str, Any]:
    """Return the capabilities for the served methods; a terminal needs all five of its methods."""
    return {
        "fs": {"readTextFile": READ_FILE in served, "writeTextFile": WRITE_FILE in served},
        "terminal": set(served) >= TERMINAL_METHODS,
    }


def outcome_of(request: Mapping[str, Any], chosen: str | None) -> dict[str, Any]:
    """Convert the ID of the chosen option to a reply; None or an ID that was not offered grants no permission."""
    offered = {option["optionId"] for option in request.get("options", ())}
    if chosen not in offered:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": chosen}}


def option_of(request: Mapping[str, Any], kind: str) -> str | None:
    """Return the ID of the offered option of a kind, such as `allow_once` or `reject_once`."""
    options = request.get("options", ())
    return next((option["optionId"] for option in options if option.get("kind") == kind), None)


def refuse(request: Mapping[str, Any]) -> str | None:
    """Reject a permission request, as both clients do without a callable."""
    return option_of(request, "reject_once")
