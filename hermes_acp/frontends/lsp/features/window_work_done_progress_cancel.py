"""window/workDoneProgress/cancel: stop the work."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification


def _stop(editor: EditorConnection, params: types.WorkDoneProgressCancelParams) -> None:
    editor.progress.stop(params.token)


FEATURE = Notification(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, _stop, is_taken_over=True)
