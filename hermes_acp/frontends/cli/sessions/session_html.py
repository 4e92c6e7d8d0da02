"""Write a session as one HTML page, without scripts or anything loaded from elsewhere."""

from html import escape

from markdown_it import MarkdownIt

from hermes_acp.frontends.cli.sessions import messages


def html_page(title: str, markdown: str) -> str:
    """Return a page that shows Markdown text. HTML in it is shown as text, and images become links."""
    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    return messages.PAGE.format(title=escape(title), body=parser.render(markdown))
