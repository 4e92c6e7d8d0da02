"""textDocument/didOpen: add the document."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification


def _take(editor: EditorConnection, params: types.DidOpenTextDocumentParams) -> None:
    editor.documents.take(params.text_document)


FEATURE = Notification(types.TEXT_DOCUMENT_DID_OPEN, _take, is_taken_over=True)
