"""initialize: note what the editor said, before pygls answers with what there is."""

from lsprotocol import types

from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Notice
from hermes_acp.faces.lsp.registration import offer_completion


def _greet(desk: Desk, params: types.InitializeParams) -> None:
    desk.greet(params)
    if desk.settings.inline_completion.enabled:
        offer_completion(desk)


FEATURE = Notice(types.INITIALIZE, _greet)
