"""Show the progress of long work in the editor, whose user can cancel it.

Source: LSP 3.18, "Work Done Progress".
"""

import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from lsprotocol import types

from hermes_acp.core.untrusted_text import plain
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.client.lsp_client import ClientError, LspClient


class WorkDoneProgress:
    """The progress of one piece of work; without a token it is not shown."""

    def __init__(self, client: LspClient, token: int | str | None) -> None:
        self._client = client
        self._token = token

    def report(self, text: str) -> None:
        """Report the current step."""
        self._tell(types.WorkDoneProgressReport(message=plain(text), cancellable=True))

    def begin(self, title: str) -> None:
        """Report the start."""
        self._tell(types.WorkDoneProgressBegin(title=title, cancellable=True))

    def end(self, text: str) -> None:
        """Report the end."""
        self._tell(types.WorkDoneProgressEnd(message=plain(text)))

    def _tell(
        self, value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd
    ) -> None:
        if self._token is not None:
            self._client.notify(types.PROGRESS, types.ProgressParams(token=self._token, value=value))


class ProgressReporter:
    """Tracks all work whose progress is shown."""

    def __init__(self, client: LspClient) -> None:
        self._client = client
        self._stops: dict[int | str, Callable[[], None]] = {}

    @asynccontextmanager
    async def shown(
        self, title: str, token: int | str | None, stop: Callable[[], None]
    ) -> AsyncGenerator[WorkDoneProgress]:
        """Show progress during the block, with the editor's token or a new one; `stop` cancels the work."""
        token = await self._own_token() if token is None else token
        progress = WorkDoneProgress(self._client, token)
        if token is not None:
            self._stops[token] = stop
        progress.begin(title)
        how = messages.STOPPED
        try:
            yield progress
            how = messages.DONE
        finally:
            if token is not None:
                self._stops.pop(token, None)
            progress.end(how)

    async def _own_token(self) -> str | None:
        if not self._client.can.create_progress:
            return None
        token = f"hermes-{uuid.uuid4()}"
        try:
            params = types.WorkDoneProgressCreateParams(token=token)
            await self._client.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
        except ClientError:
            return None
        return token

    def stop(self, token: int | str) -> None:
        """Cancel the work of a token; ignore unknown tokens."""
        if end := self._stops.get(token):
            end()
