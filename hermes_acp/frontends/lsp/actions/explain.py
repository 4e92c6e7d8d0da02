"""Explain the selection, or the diagnostics at the cursor."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(selection: CodeSelection) -> bool:
    return selection.has_selection or bool(selection.target.diagnostics)


def _ask(selection: CodeSelection) -> str:
    what = (
        "what is wrong there and how it comes about"
        if selection.target.diagnostics
        else "what it does and why"
    )
    return f"Explain {selection.lines} of {selection.document.path} to me: {what}."


ACTION = Action(messages.ACTION_TITLES["explain"], "hermes.explain", _is_offered, _ask, changes_files=False)
