"""Texts for the model, except for the prompts of the actions, which are in the actions' files."""

from collections.abc import Mapping
from typing import Final

CHANGES_PROMPT: Final = (
    "Make your changes with the tools that edit files. They become a proposal in my editor, which I look at when you "
    "are done and then apply or discard; nothing is on disk before that, so commands see the files as they were saved. "
    "Say in one or two sentences what you changed and why."
)
NO_CHANGES_PROMPT: Final = "Answer in Markdown. Do not change any file."
DIAGNOSTICS_HEADING: Final = "The editor reports there:"

CHANGED_MEANWHILE: Final = "the file changed after you read it"
CANNOT_DELETE: Final = "the editor cannot delete files for you"
CANNOT_EDIT: Final = "the editor cannot edit files for you"
DISCARDED: Final = "the user discarded the change"
STOPPED_EARLY: Final = "the action was stopped first"


def not_applied(reasons: Mapping[str, str]) -> str:
    """Return the note about files whose changes were not applied, each with the reason."""
    lines = "\n".join(f"- {path}: {reason}" for path, reason in reasons.items())
    return (
        f"[What you proposed was not applied everywhere:\n{lines}\n"
        "These files are as they were before. Read before you change them.]"
    )
