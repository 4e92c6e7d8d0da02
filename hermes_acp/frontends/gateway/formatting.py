"""Turn the agent's Markdown into what a platform shows."""

from functools import cache

from markdown_it import MarkdownIt


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])


def to_html(text: str) -> str:
    """Return Markdown as HTML; HTML in it is shown as text, and pictures are links, so nothing is fetched."""
    tokens = _parser().parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                child.type, child.tag, child.nesting = "text", "", 0
                child.content = f"{child.content} ({child.attrs.get('src', '')})"
                child.children = None
    return _parser().renderer.render(tokens, _parser().options, {}).strip()
