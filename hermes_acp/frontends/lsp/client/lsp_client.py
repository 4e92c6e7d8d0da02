"""Send messages and requests to the editor."""

import uuid
from collections.abc import Sequence
from typing import Any, Final

import anyio
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.client.editor_capabilities import EditorCapabilities

MAX_MESSAGE_LENGTH: Final = 4_000


class ClientError(WorkspaceError):
    """The editor rejected a request, or its response is malformed."""

    code = "editor_trouble"


class LspClient:
    """A connected editor; `can` has its capabilities."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self.can = EditorCapabilities(types.ClientCapabilities())

    async def ask(self, method: str, params: object) -> Any:
        """Send a request and wait for the response without a timeout; cancelling the wait cancels the request.
        Raises ClientError.
        """
        call_id = f"hermes-{uuid.uuid4()}"
        try:
            return await self._server.protocol.send_request_async(method, params, call_id)
        except JsonRpcException as error:
            raise ClientError(messages.request_rejected(method, error.message)) from error
        except anyio.get_cancelled_exc_class():
            self.notify(types.CANCEL_REQUEST, types.CancelParams(id=call_id))
            raise

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._server.protocol.notify(method, params)

    def tell(self, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show a message."""
        message = types.ShowMessageParams(type=kind, message=text[:MAX_MESSAGE_LENGTH])
        self.notify(types.WINDOW_SHOW_MESSAGE, message)

    def warn(self, text: str) -> None:
        """Show a warning."""
        self.tell(text, types.MessageType.Warning)

    async def choose(
        self, text: str, titles: Sequence[str], kind: types.MessageType = types.MessageType.Info
    ) -> str | None:
        """Let the user choose one of the titles; return None if they dismiss the question. Raises ClientError.

        The text is sent in full, regardless of its length, because it may be what the user approves.
        """
        params = types.ShowMessageRequestParams(
            type=kind,
            message=text,
            actions=[types.MessageActionItem(title=title) for title in titles],
        )
        answer = await self.ask(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        chosen = getattr(answer, "title", None)
        return chosen if chosen in titles else None

    async def show(self, uri: str, *, takes_focus: bool = True, is_external: bool = False) -> bool:
        """Let the editor open a document or a page; return whether that worked."""
        if not self.can.show_documents:
            return False
        params = types.ShowDocumentParams(uri=uri, external=is_external, take_focus=takes_focus)
        try:
            answer = await self.ask(types.WINDOW_SHOW_DOCUMENT, params)
        except ClientError:
            return False
        return bool(getattr(answer, "success", False))
