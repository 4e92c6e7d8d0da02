"""window/workDoneProgress/cancel: whoever watches some work stops it."""

from lsprotocol import types

from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Notice


def _stop(desk: Desk, params: types.WorkDoneProgressCancelParams) -> None:
    desk.progress.stop(params.token)


FEATURE = Notice(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, _stop, is_taken_over=True)
