"""initialized: start sending messages to the editor."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification


def _open(editor: EditorConnection, params: types.InitializedParams) -> None:
    editor.open()


FEATURE = Notification(types.INITIALIZED, _open)
