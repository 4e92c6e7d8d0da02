"""textDocument/didClose: from now on the disk says what is in the file."""

from lsprotocol import types

from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Notice


def _drop(desk: Desk, params: types.DidCloseTextDocumentParams) -> None:
    desk.documents.drop(params.text_document.uri)


FEATURE = Notice(types.TEXT_DOCUMENT_DID_CLOSE, _drop, is_taken_over=True)
