"""Write tests for the selection."""

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import Action
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection


def _is_offered(selection: CodeSelection) -> bool:
    return selection.has_selection


def _ask(selection: CodeSelection) -> str:
    return (
        f"Write tests for {selection.lines} of {selection.document.path}. First look at how this project "
        "is tested, and put them where its tests are. Cover the usual case, edge cases and what must fail."
    )


ACTION = Action(messages.ACTION_TITLES["write_tests"], "refactor.tests", _is_offered, _ask)
