"""Explain what is selected, or what is wrong at the cursor."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(place: CodeSelection) -> bool:
    return place.has_selection or bool(place.target.diagnostics)


def _ask(place: CodeSelection) -> str:
    what = (
        "what is wrong there and how it comes about" if place.target.diagnostics else "what it does and why"
    )
    return f"Explain {place.lines} of {place.document.path} to me: {what}."


ACTION = Action(messages.ACTION_TITLES["explain"], "hermes.explain", _is_offered, _ask, changes_files=False)
