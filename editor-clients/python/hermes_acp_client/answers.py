"""How requests of the agent are answered, in the plain JSON form that both clients share.

Knows: capabilities that follow from what is served, permission outcomes. Does not know: wires, threads,
tasks.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

READ_FILE: Final = "fs/read_text_file"
WRITE_FILE: Final = "fs/write_text_file"
TERMINAL_METHODS: Final = frozenset(
    {"terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"}
)


def capabilities_of(served: Collection[str]) -> dict[str, Any]:
    """Announce exactly what is served; a terminal needs all of its five methods."""
    return {
        "fs": {"readTextFile": READ_FILE in served, "writeTextFile": WRITE_FILE in served},
        "terminal": set(served) >= TERMINAL_METHODS,
    }


def outcome_of(request: Mapping[str, Any], chosen: str | None) -> dict[str, Any]:
    """Turn a chosen option id into the reply; None, or an id that was not offered, is no permission."""
    offered = {option["optionId"] for option in request.get("options", ())}
    if chosen not in offered:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": chosen}}


def option_of(request: Mapping[str, Any], kind: str) -> str | None:
    """Find the id of the offered option of one kind, such as `allow_once` or `reject_once`."""
    options = request.get("options", ())
    return next((option["optionId"] for option in options if option.get("kind") == kind), None)


def refuse(request: Mapping[str, Any]) -> str | None:
    """Answer a permission request with no: what both clients do when nobody was named to be asked."""
    return option_of(request, "reject_once")
