"""Refactor the selection."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(selection: CodeSelection) -> bool:
    return selection.has_selection


def _ask(selection: CodeSelection) -> str:
    if selection.target.instruction.strip():
        return f"Change {selection.lines} of {selection.document.path} as follows:"
    return (
        f"Refactor {selection.lines} of {selection.document.path}: make it simpler and clearer. "
        "It must do exactly what it does now; keep names that others use."
    )


ACTION = Action(messages.ACTION_TITLES["refactor"], "refactor.rewrite", _is_offered, _ask)
