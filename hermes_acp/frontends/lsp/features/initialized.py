"""initialized: the editor can be told and asked from now on."""

from lsprotocol import types

from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Notice


def _open(desk: Desk, params: types.InitializedParams) -> None:
    desk.open()


FEATURE = Notice(types.INITIALIZED, _open)
