"""textDocument/didOpen."""

from lsprotocol import types

from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Notice


def _take(desk: Desk, params: types.DidOpenTextDocumentParams) -> None:
    desk.documents.take(params.text_document)


FEATURE = Notice(types.TEXT_DOCUMENT_DID_OPEN, _take, is_taken_over=True)
