"""Fix what the editor finds wrong."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(place: CodeSelection) -> bool:
    return bool(place.target.diagnostics)


def _ask(place: CodeSelection) -> str:
    return (
        f"Fix what is wrong at {place.lines} of {place.document.path}, at its cause and not by hiding it. "
        "Change nothing that has to do with something else."
    )


ACTION = Action(messages.ACTION_TITLES["fix"], "quickfix", _is_offered, _ask)
