"""textDocument/hover: show the proposed change at a line."""

from lsprotocol import types

from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Request


async def _show(editor: EditorConnection, params: types.HoverParams) -> types.Hover | None:
    document = editor.documents.get(params.text_document.uri)
    line = params.position.line
    hunk = editor.pending.at(params.text_document.uri, line, document.version) if document else None
    if hunk is None or document is None:
        return None
    positions = editor.documents.positions(document.text)
    ends = (
        positions.place(positions.offset(number, 0))
        for number in (hunk.first, max(hunk.last, hunk.first + 1))
    )
    start, end = (types.Position(line=place[0], character=place[1]) for place in ends)
    value = messages.hover(hunk.shown())
    return types.Hover(
        contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=value),
        range=types.Range(start=start, end=end),
    )


FEATURE = Request(types.TEXT_DOCUMENT_HOVER, _show)
