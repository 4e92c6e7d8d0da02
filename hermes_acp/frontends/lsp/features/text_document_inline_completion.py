"""textDocument/inlineCompletion: suggest text at the cursor, if the user has enabled that."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Request


async def _suggest(
    editor: EditorConnection, params: types.InlineCompletionParams
) -> list[types.InlineCompletionItem]:
    document = editor.documents.get(params.text_document.uri)
    settings = editor.settings.inline_completion
    if document is None or not document.path or not settings.enabled:
        return []
    at = params.position
    offset = editor.documents.positions(document.text).offset(at.line, at.character)
    text = await editor.completions.suggest(editor.app, document, offset, editor.folders(), settings)
    if not text:
        return []
    return [types.InlineCompletionItem(insert_text=text, range=types.Range(start=at, end=at))]


FEATURE = Request(
    types.TEXT_DOCUMENT_INLINE_COMPLETION,
    _suggest,
    types.InlineCompletionOptions(),
    is_offered="if_wanted",
)
