"""textDocument/didClose: forget the document, so that its file is used from now on."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification


def _drop(editor: EditorConnection, params: types.DidCloseTextDocumentParams) -> None:
    editor.documents.drop(params.text_document.uri)


FEATURE = Notification(types.TEXT_DOCUMENT_DID_CLOSE, _drop, is_taken_over=True)
