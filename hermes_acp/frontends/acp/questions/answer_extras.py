"""Parse the edits and comments that accompany a permission answer, in `_meta.hermes`.

Malformed values are ignored.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct, UnsetType

from hermes_acp.core.event_types import Diff, PermissionAnswer
from hermes_acp.core.ports.gate_ports import PermissionResponse
from hermes_acp.frontends.acp.questions.large_diffs import text_with_changes

MAX_COMMENT_LENGTH: Final = 4_000
MAX_PART_LENGTH: Final = 4_000
MAX_PARTS: Final = 50


class _Change(Struct, frozen=True, rename="camel"):
    start: int
    count: int
    lines: list[str]


class _Edit(Struct, frozen=True, rename="camel"):
    path: str
    new_text: str | None = None
    changes: list[_Change] | None = None
    rejected: list[str] = []


class _Said(Struct, frozen=True, rename="camel"):
    edits: list[_Edit] = []
    comment: str = ""
    is_unattended: bool = False


def is_unattended(meta: dict[str, Any] | UnsetType | None) -> bool:
    """Return whether the client reports that nobody was available to answer."""
    said = _read(meta)
    return said is not None and said.is_unattended


def full_answer(
    answer: PermissionAnswer, meta: dict[str, Any] | UnsetType | None, diffs: Sequence[Diff] = ()
) -> PermissionAnswer | PermissionResponse:
    """Return an answer together with its edits and comment, if it has any.

    Edits can be line changes to the question's diffs. If such a change does not apply, the answer is `unavailable`.
    """
    said = _read(meta)
    if said is None or not (said.edits or said.comment.strip()):
        return answer
    texts = {edit.path: text for edit in said.edits if (text := _text_of(edit, diffs)) is not None}
    if len(texts) < len(said.edits):
        return "unavailable"
    return PermissionResponse(
        answer,
        comment=said.comment.strip()[:MAX_COMMENT_LENGTH],
        texts=MappingProxyType(texts),
        left_out=_left_out(said.edits),
    )


def rejected(comment: str) -> dict[str, Any]:
    """Return the `_meta` for the card of a rejected call; the card's own text is written for the model."""
    return {"hermes": {"rejected": {"comment": comment}}}


def _read(meta: dict[str, Any] | UnsetType | None) -> _Said | None:
    if not meta:
        return None
    try:
        return msgspec.convert(meta.get("hermes"), _Said)
    except msgspec.ValidationError:
        return None


def _text_of(edit: _Edit, diffs: Sequence[Diff]) -> str | None:
    if edit.new_text is not None:
        return edit.new_text
    diff = next((each for each in diffs if each.path == edit.path), None)
    if diff is None or edit.changes is None:
        return None
    return text_with_changes(diff, [(change.start, change.count, change.lines) for change in edit.changes])


def _left_out(edits: list[_Edit]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(
        {edit.path: tuple(part[:MAX_PART_LENGTH] for part in edit.rejected[:MAX_PARTS]) for edit in edits}
    )
