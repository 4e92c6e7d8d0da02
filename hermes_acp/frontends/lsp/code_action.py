"""What can be done with a place in a document: the shape of the leaves in `actions`.

Knows: what all of them tell the model. Does not know: any of them, or how a turn is run.
"""

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
    """One action: its name in menus, its kind of the protocol's, where it is offered, what the model is asked.

    The answer of one that does not `change_files` is what the user wants to read.
    """

    title: str
    kind: str
    is_offered: Callable[[CodeSelection], bool]
    ask: Callable[[CodeSelection], str]
    changes_files: bool = True


def parts_of(action: Action, place: CodeSelection) -> tuple[Part, ...]:
    """Return the prompt for an action at a place, with what is selected and what the editor finds wrong there."""
    said = [
        action.ask(place),
        model_text.CHANGES_PROMPT if action.changes_files else model_text.NO_CHANGES_PROMPT,
    ]
    if place.target.instruction.strip():
        said.insert(1, place.target.instruction.strip())
    if place.target.diagnostics:
        said.append(
            "\n".join([model_text.DIAGNOSTICS_HEADING, *(each.shown() for each in place.target.diagnostics)])
        )
    text = TextPart("\n\n".join(said))
    if not place.selected or len(place.selected) > MAX_SELECTION_LENGTH:
        return (text,)
    first = place.target.range.start.line + 1
    uri = f"{Path(place.document.path).as_uri()}#L{first}"
    return text, ResourcePart(uri, place.selected)
