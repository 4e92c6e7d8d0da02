"""Inline completion: requested after a pause in typing, cancelled by the next keystroke.

There is one suggestion per document. A cancelled request is answered at once, however long its model takes to stop.
"""

import os
from collections.abc import Awaitable, Callable, Sequence

import anyio

from hermes_acp.agent.code_completion import CompletionGap, complete_code
from hermes_acp.app.app import App
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.lsp.documents.open_documents import Document, OpenDocuments
from hermes_acp.frontends.lsp.lsp_settings import CompletionSettings
from hermes_acp.frontends.lsp.server.request_tasks import PendingResult, RequestTasks


class InlineCompletions:
    """The pending suggestions, one per document."""

    def __init__(self, tasks: RequestTasks, documents: OpenDocuments) -> None:
        self._tasks = tasks
        self._documents = documents
        self._making: dict[str, PendingResult[str]] = {}
        documents.watch(self.drop)

    def drop(self, uri: str) -> None:
        """Cancel the pending suggestion for a document; its request gets an empty answer."""
        if promise := self._making.pop(uri, None):
            promise.settle("")
            promise.scope.cancel()

    async def suggest(
        self,
        app: Callable[[], Awaitable[App]],
        document: Document,
        offset: int,
        folders: Sequence[str],
        settings: CompletionSettings,
    ) -> str:
        """Return the model's suggestion at an offset, or an empty string if there is none or it was cancelled."""
        self.drop(document.uri)
        gap = CompletionGap(document.path, document.text[:offset], document.text[offset:])
        place = next((each for each in folders if gap.path.startswith(each + "/")), os.path.dirname(gap.path))

        async def make() -> str:
            await anyio.sleep(settings.debounce_ms / 1000)
            try:
                deps = await (await app()).configuration.deps()
                return await complete_code(
                    deps, gap, place, model=settings.model, max_tokens=settings.max_tokens
                )
            except HermesError:
                return ""  # an error would interrupt the user's typing

        promise = self._tasks.begin(make)
        self._making[document.uri] = promise
        try:
            return await promise.wait()
        finally:
            if self._making.get(document.uri) is promise:
                del self._making[document.uri]
