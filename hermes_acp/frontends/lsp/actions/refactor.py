"""Refactor what is selected."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(place: CodeSelection) -> bool:
    return place.has_selection


def _ask(place: CodeSelection) -> str:
    if place.target.instruction.strip():
        return f"Change {place.lines} of {place.document.path} as follows:"
    return (
        f"Refactor {place.lines} of {place.document.path}: make it simpler and clearer. It must do exactly what it "
        "does now; keep names that others use."
    )


ACTION = Action(messages.ACTION_TITLES["refactor"], "refactor.rewrite", _is_offered, _ask)
