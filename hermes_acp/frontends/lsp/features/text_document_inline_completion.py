"""textDocument/inlineCompletion: what a model would write at the cursor, if its user wants suggestions at all."""

from lsprotocol import types

from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Request


async def _suggest(desk: Desk, params: types.InlineCompletionParams) -> list[types.InlineCompletionItem]:
    document = desk.documents.get(params.text_document.uri)
    settings = desk.settings.inline_completion
    if document is None or not document.path or not settings.enabled:
        return []
    at = params.position
    offset = desk.documents.positions(document.text).offset(at.line, at.character)
    text = await desk.completions.suggest(desk.house, document, offset, desk.folders(), settings)
    if not text:
        return []
    return [types.InlineCompletionItem(insert_text=text, range=types.Range(start=at, end=at))]


FEATURE = Request(
    types.TEXT_DOCUMENT_INLINE_COMPLETION,
    _suggest,
    types.InlineCompletionOptions(),
    is_offered="if wanted",
)
