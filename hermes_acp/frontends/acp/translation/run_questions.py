"""Convert the questions of runs to the wire format, each with the full text of what would happen."""

from typing import TYPE_CHECKING

import msgspec

from hermes_acp.core.proposals import Diff
from hermes_acp.tools.approval_text import approval_text
from hermes_protocol import own

if TYPE_CHECKING:
    from hermes_acp.runs.open_questions import OpenQuestion


def question_entry(question: "OpenQuestion") -> own.RunsShowQuestion:
    """Convert a question."""
    card = question.card
    text = "" if question.is_for_text or card.diffs else approval_text(card) or _arguments(card.raw_input)
    return own.RunsShowQuestion(
        call_id=card.call_id,
        title=question.asks.question if question.is_for_text else card.title,
        why=question.why,
        is_for_text=question.is_for_text,
        choices=list(question.asks.choices or ()) if question.is_for_text else [],
        input=text,
        diffs=[_diff(each) for each in card.diffs],
    )


def _diff(diff: Diff) -> own.RunsShowQuestionDiff:
    return own.RunsShowQuestionDiff(path=diff.path, old_text=diff.old_text, new_text=diff.new_text)


def _arguments(raw: object) -> str:
    return msgspec.json.format(msgspec.json.encode(raw), indent=2).decode() if raw is not None else ""
