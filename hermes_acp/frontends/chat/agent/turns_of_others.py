"""Detect turns that this chat did not start: another client did, or this one before it lost its connection."""

from typing import Any

import msgspec

from hermes_protocol import v1


def turn_started(update: v1.SessionUpdate) -> str:
    """Return the ID of the turn if an update says that another client started one, or an empty string."""
    return _turn_in(update, "turnBegan")


def turn_ended(update: v1.SessionUpdate) -> str:
    """Return the ID of the turn if an update says that another client's turn has ended, or an empty string."""
    return _turn_in(update, "turnEnded")


def _turn_in(update: v1.SessionUpdate, name: str) -> str:
    meta = update.meta if isinstance(update, v1.SessionInfoUpdate) else None
    try:
        own = msgspec.convert(meta, dict[str, dict[str, dict[str, Any]]])
    except msgspec.ValidationError:
        return ""
    return str(own.get("hermes", {}).get(name, {}).get("turnId", ""))
