"""Fix the diagnostics at the cursor or in the selection."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(selection: CodeSelection) -> bool:
    return bool(selection.target.diagnostics)


def _ask(selection: CodeSelection) -> str:
    return (
        f"Fix what is wrong at {selection.lines} of {selection.document.path}, at its cause; do not just hide it. "
        "Change nothing unrelated."
    )


ACTION = Action(messages.ACTION_TITLES["fix"], "quickfix", _is_offered, _ask)
