"""Announce this agent's extensions to clients that announce any themselves.

Other clients cannot use them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET, UnsetType

from hermes_protocol import v1

if TYPE_CHECKING:
    from hermes_protocol import v2


def extension_meta(
    capabilities: "v1.ClientCapabilities | v2.ClientCapabilities | UnsetType | None",
    *,
    unstable: bool,
    speech: bool,
) -> dict[str, Any] | UnsetType:
    """Return the `_meta` of the agent's capabilities for a client with these capabilities.

    `speech` says whether recordings can be transcribed.
    """
    meta = capabilities.meta if capabilities else UNSET
    if not meta or not isinstance(meta.get("hermes"), dict):
        return UNSET
    names = (
        "edits",
        "reviews",
        "checkpoints",
        "sessionSearch",
        "steering",
        "rewind",
        "overviews",
        "setup",
        "runs",
        "waiting",
        "schedules",
        "board",
        "usage",
        "fileSearch",
        "fileReading",
        "fileFetching",
        "settings",
    )
    more = (*(("sessionAttach",) if unstable else ()), *(("transcription",) if speech else ()))
    return {"hermes": dict.fromkeys((*names, *more), True)}


def own_meta(meta: object) -> Mapping[str, object]:
    """Return the contents of `_meta.hermes`; empty if it is missing or not an object."""
    said = cast("Mapping[str, object]", meta).get("hermes") if isinstance(meta, dict) else None
    return cast("Mapping[str, object]", said) if isinstance(said, dict) else {}


def takes(
    capabilities: "v1.ClientCapabilities | v2.ClientCapabilities | UnsetType | None", name: str
) -> bool:
    """Return whether a client's capabilities contain `_meta.hermes.NAME: true`."""
    return own_meta(capabilities.meta if capabilities else UNSET).get(name) is True
