"""Turns in the open session that this chat did not start: another client did, or this one before it lost its
connection.
"""

from typing import Any

import msgspec

from hermes_protocol import v1


def turn_started(update: v1.SessionUpdate) -> str:
    """Return the ID of a turn that others started, or an empty string."""
    return _turn_in(update, "turnBegan")


def turn_ended(update: v1.SessionUpdate) -> str:
    """Return the ID of a turn started by others that has ended, or an empty string."""
    return _turn_in(update, "turnEnded")


def _turn_in(update: v1.SessionUpdate, name: str) -> str:
    meta = update.meta if isinstance(update, v1.SessionInfoUpdate) else None
    try:
        own = msgspec.convert(meta, dict[str, dict[str, dict[str, Any]]])
    except msgspec.ValidationError:
        return ""
    return str(own.get("hermes", {}).get(name, {}).get("turnId", ""))
