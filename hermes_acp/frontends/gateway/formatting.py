"""Convert the agent's Markdown to the formats of platforms."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from msgspec import Struct

LINKED: Final = ("http://", "https://", "mailto:")
BULLET: Final = "• "
RULE: Final = "———"
_CODE: Final = re.compile(r"(^```.*?^```|^~~~.*?^~~~|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
Marks = tuple[str, str]


class Markup(Struct, frozen=True):
    """A platform's markup language: the marks around each style, and the format of links."""

    bold: Marks
    italic: Marks
    strike: Marks
    code: Marks
    block: Marks
    link: Callable[[str, str], str]


def _html_link(address: str, text: str) -> str:
    return f'<a href="{escape(address)}">{text}</a>'


def _slack_link(address: str, text: str) -> str:
    return f"<{_escaped(address).replace('|', '%7C')}|{text.replace('|', '¦')}>"


def _written_link(address: str, text: str) -> str:
    shown = _escaped(address)
    return shown if text == shown else f"{text} ({shown})"


TELEGRAM: Final = Markup(
    ("<b>", "</b>"),
    ("<i>", "</i>"),
    ("<s>", "</s>"),
    ("<code>", "</code>"),
    ("<pre>", "</pre>"),
    _html_link,
)
WHATSAPP: Final = Markup(("*", "*"), ("_", "_"), ("~", "~"), ("`", "`"), ("```", "```"), _written_link)
SLACK: Final = Markup(("*", "*"), ("_", "_"), ("~", "~"), ("`", "`"), ("```\n", "\n```"), _slack_link)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])


def to_html(text: str) -> str:
    """Convert Markdown to HTML. Embedded HTML is shown as text; pictures become links, so that none is fetched."""
    tokens = _parser().parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                child.type, child.tag, child.nesting = "text", "", 0
                child.content = f"{child.content} ({child.attrs.get('src', '')})"
                child.children = None
    return _parser().renderer.render(tokens, _parser().options, {}).strip()


def to_markup(text: str, markup: Markup) -> str:
    """Convert Markdown to a platform's own markup, escaping `&`, `<` and `>`.

    The visible text can become slightly longer.
    """
    return _MarkupWriter(markup, text.split("\n")).write(SyntaxTreeNode(_parser().parse(text)))


def change_outside_code(text: str, pattern: re.Pattern[str], replacement: str) -> str:
    """Replace a pattern in Markdown, except in code."""
    parts = _CODE.split(text)
    return "".join(
        part if number % 2 else pattern.sub(replacement, part) for number, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    return escape(text, quote=False)


class _MarkupWriter:
    """Renders one Markdown text in a platform's markup."""

    def __init__(self, markup: Markup, lines: Sequence[str]) -> None:
        self._markup = markup
        self._lines = lines

    def write(self, tree: SyntaxTreeNode) -> str:
        """Render a document or the content of a block quote."""
        return "\n\n".join(filter(None, map(self._block, tree.children)))

    def _block(self, node: SyntaxTreeNode) -> str:
        markup = self._markup
        match node.type:
            case "paragraph":
                return self._inline(node)
            case "heading":
                return _marked(self._inline(node), markup.bold)
            case "fence" | "code_block":
                return _marked(_escaped(node.content.rstrip("\n")), markup.block)
            case "bullet_list" | "ordered_list":
                return self._list(node)
            case "blockquote":
                return "\n".join(f"&gt; {line}" for line in self.write(node).split("\n"))
            case "hr":
                return RULE
            case _:  # tables stay unchanged, so that their columns stay aligned
                begin, end = node.map or (0, 0)
                return _marked(_escaped("\n".join(self._lines[begin:end]).strip("\n")), markup.block)

    def _list(self, node: SyntaxTreeNode) -> str:
        start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        items: list[str] = []
        for number, item in enumerate(node.children):
            mark = BULLET if start is None else f"{start + number}. "
            content = "\n".join(filter(None, map(self._block, item.children)))
            items.append(f"{mark}{content.replace(chr(10), chr(10) + '  ')}")
        return "\n".join(items)

    def _inline(self, node: SyntaxTreeNode) -> str:
        return "".join(map(self._span, node.children))

    def _span(self, node: SyntaxTreeNode) -> str:
        markup = self._markup
        match node.type:
            case "inline":
                return self._inline(node)
            case "softbreak" | "hardbreak":
                return "\n"
            case "code_inline":
                return _marked(_escaped(node.content), markup.code)
            case "strong":
                return _marked(self._inline(node), markup.bold)
            case "em":
                return _marked(self._inline(node), markup.italic)
            case "s":
                return _marked(self._inline(node), markup.strike)
            case "link":
                return self._link(str(node.attrs.get("href", "")), self._inline(node))
            case "image":
                return f"{_escaped(node.content)} ({_escaped(str(node.attrs.get('src', '')))})"
            case _:
                return _escaped(node.content)

    def _link(self, address: str, text: str) -> str:
        """Render a link. Other addresses than web addresses could mention people, so they are shown as text."""
        if address.lower().startswith(LINKED):
            return self._markup.link(address, text or _escaped(address))
        return f"{text} ({_escaped(address)})"


def _marked(text: str, marks: Marks) -> str:
    """Put marks around a text, unless it is empty."""
    return f"{marks[0]}{text}{marks[1]}" if text.strip() else text
