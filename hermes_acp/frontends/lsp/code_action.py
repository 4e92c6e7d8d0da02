"""The type of the plugins in `actions`, and the prompt that they share."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.core.messages import Part, ResourcePart, TextPart
from hermes_acp.frontends.lsp import model_text
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection

COMMAND_PREFIX: Final = "hermes."
MAX_SELECTION_LENGTH: Final = 60_000


class Action(Struct, frozen=True):
    """A code action: its title, its kind, when it is offered, and the request to the model.

    If it does not change files, the user is shown the model's answer.
    """

    title: str
    kind: str
    is_offered: Callable[[CodeSelection], bool]
    ask: Callable[[CodeSelection], str]
    changes_files: bool = True


def parts_of(action: Action, selection: CodeSelection) -> tuple[Part, ...]:
    """Build the prompt of an action: its request, the selected text and the diagnostics."""
    said = [
        action.ask(selection),
        model_text.CHANGES_PROMPT if action.changes_files else model_text.NO_CHANGES_PROMPT,
    ]
    if selection.target.instruction.strip():
        said.insert(1, selection.target.instruction.strip())
    if selection.target.diagnostics:
        said.append(
            "\n".join(
                [model_text.DIAGNOSTICS_HEADING, *(each.shown() for each in selection.target.diagnostics)]
            )
        )
    text = TextPart("\n\n".join(said))
    if not selection.selected or len(selection.selected) > MAX_SELECTION_LENGTH:
        return (text,)
    first = selection.target.range.start.line + 1
    uri = f"{Path(selection.document.path).as_uri()}#L{first}"
    return text, ResourcePart(uri, selection.selected)
