"""Render the objects of rich as text for the terminal.

All output goes through `render`, which removes control characters.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Final, Literal

from msgspec import Struct
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment, Segments
from rich.syntax import Syntax
from rich.text import Text

from hermes_acp.frontends.chat.rendering.terminal_text import sanitize

ColourDepth = Literal["none", "attributes", "standard", "256", "truecolor"]
MAX_WIDTH: Final = 100
MIN_WIDTH: Final = 20
OUTPUT_BAR: Final = "│"
_LEAD: Final = re.compile(rf"  {OUTPUT_BAR} |\S |  ")
"""The start of a line before its words: the bar beside an output, a mark, or an indentation."""


class TerminalStyle(Struct, frozen=True):
    """The capabilities of a terminal; one that `is_plain` gets only lines of text."""

    colours: ColourDepth
    is_plain: bool


class TextRenderer:
    """Renders text with the escape codes that the terminal understands."""

    def __init__(self, style: TerminalStyle, columns: Callable[[], int]) -> None:
        self.style = style
        self._columns = columns

    @property
    def width(self) -> int:
        """The width of text in cells; limited, because long lines are hard to read."""
        return max(MIN_WIDTH, min(self._columns(), MAX_WIDTH))

    def render(self, *parts: RenderableType) -> str:
        """Render parts as lines, each with its line ending."""
        if self.style.is_plain:
            return "".join(f"{_plain(part)}\n" for part in parts)
        console = self._console()
        out = io.StringIO()
        console.file = out
        console.print(Segments(_joined(_lines_of(console, parts))), end="")
        return out.getvalue()

    def segments(self, *parts: RenderableType) -> list[list[Segment]]:
        """Render parts as lines of segments, for a screen that draws them itself."""
        return _lines_of(self._console(), parts)

    def markdown(self, text: str) -> RenderableType:
        """Return a renderable for Markdown; on a plain terminal, its source."""
        if self.style.is_plain:
            return Text(sanitize(text))
        return _Prose(sanitize(text), code_theme="ansi_dark", hyperlinks=False)

    def _console(self) -> Console:
        colours = self.style.colours
        system: Literal["standard", "256", "truecolor"] | None = None
        if colours == "attributes":
            system = "standard"
        elif colours != "none":
            system = colours
        return Console(
            width=self.width,
            color_system=system,
            no_color=colours == "attributes",
            force_terminal=not self.style.is_plain,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )


class _Code(CodeBlock):
    """Code on the terminal's own background, at the left edge, so that it is easy to copy."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(
            code,
            self.lexer_name,
            theme=self.theme,
            background_color="default",
            word_wrap=True,
            padding=(0, 2),
        )


class _Title(Heading):
    """A heading at the left edge, without a frame."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text.copy()
        text.justify = "left"
        text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield text


class _Prose(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Title,
        "fence": _Code,
        "code_block": _Code,
    }


def _plain(part: RenderableType) -> str:
    if isinstance(part, Text):
        return sanitize(part.plain)
    return sanitize(str(part))


def _lines_of(console: Console, parts: Iterable[RenderableType]) -> list[list[Segment]]:
    """Render lines without control characters, and without blank lines at the start and the end."""
    wrapped = (_wrapped(console, part) if isinstance(part, Text) else part for part in parts)
    lines = [_stripped(line) for line in Segment.split_lines(_harmless(console.render(Group(*wrapped))))]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _wrapped(console: Console, text: Text) -> Text:
    """Wrap lines that are too long; continuation lines are aligned with the words, not with the mark."""
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        lead = _LEAD.match(line.plain) if line.cell_len > console.width else None
        if lead is None:
            lines.append(line)
            continue
        head, words = line.divide([lead.end()])
        below = head if OUTPUT_BAR in head.plain else Text(" " * head.cell_len)
        for number, part in enumerate(words.wrap(console, console.width - head.cell_len)):
            part.rstrip()
            lines.append(Text.assemble(below if number else head, part))
    return Text("\n").join(lines)


def _harmless(segments: Iterable[Segment]) -> Iterator[Segment]:
    for segment in segments:
        if not segment.control:
            yield Segment(sanitize(segment.text), segment.style)


def _stripped(line: list[Segment]) -> list[Segment]:
    """Remove the spaces with which rich pads lines, because a narrower window would wrap them."""
    while line and not line[-1].text.strip() and not _has_ground(line[-1]):
        line.pop()
    if line and not _has_ground(line[-1]):
        line[-1] = Segment(line[-1].text.rstrip(), line[-1].style)
    return line


def _has_ground(segment: Segment) -> bool:
    ground = segment.style.bgcolor if segment.style else None
    return ground is not None and not ground.is_default


def _joined(lines: Iterable[list[Segment]]) -> Iterator[Segment]:
    for line in lines:
        yield from line
        yield Segment.line()
