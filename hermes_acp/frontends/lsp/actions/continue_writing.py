"""Continue writing at the cursor."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(selection: CodeSelection) -> bool:
    return not selection.has_selection


def _ask(selection: CodeSelection) -> str:
    at = selection.target.range.start
    return (
        f"Continue writing {selection.document.path} at line {at.line + 1}, column {at.character + 1}, "
        "where my cursor is. Write what obviously comes next there, in the style of the surrounding text, "
        "and no more than that."
    )


ACTION = Action(messages.ACTION_TITLES["continue_writing"], "refactor.continue", _is_offered, _ask)
