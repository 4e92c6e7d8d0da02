"""textDocument/didChange: follow the text; what was being suggested for it is dropped."""

from lsprotocol import types

from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Notice


def _change(desk: Desk, params: types.DidChangeTextDocumentParams) -> None:
    desk.documents.change(params)


FEATURE = Notice(types.TEXT_DOCUMENT_DID_CHANGE, _change, is_taken_over=True)
