"""A session as one HTML page: no scripts, nothing loaded from elsewhere."""

from html import escape

from markdown_it import MarkdownIt

from hermes_acp.frontends.cli.sessions import messages


def html_page(title: str, markdown: str) -> str:
    """Return a page that shows Markdown text. HTML in the text is shown as text; images are links."""
    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    return messages.PAGE.format(title=escape(title), body=parser.render(markdown))
