"""Draw what a terminal showed at several moments as one animated SVG."""

import re
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Final, NamedTuple

import pyte

NO_BREAK: Final = "\N{NO-BREAK SPACE}"
"""Browsers take several usual spaces for one."""
CHARACTER_PX: Final = 8.0
LINE_PX: Final = 18
MARGIN_PX: Final = 20
FONT: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
FAINT: Final = re.compile(rb"\x1b\[(1;)?2m")
COLOURS: Final = {
    "default": "#e6edf3",
    "black": "#6e7681",
    "red": "#ff7b72",
    "green": "#7ee787",
    "brown": "#e3b341",
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#56d4dd",
    "white": "#e6edf3",
    "brightblack": "#8b949e",
}


class Moment(NamedTuple):
    """The terminal output up to a moment, and how long the picture shows it."""

    sent: bytes
    seconds: float


def draw_moments(moments: Sequence[Moment], *, columns: int, rows: int, label: str) -> str:
    """Return an SVG that shows the moments one after the other, in a loop."""
    screens = [_screen(moment.sent, columns, rows) for moment in moments]
    height = max(_used_rows(screen) for screen in screens)
    width_px, height_px = int(columns * CHARACTER_PX) + 2 * MARGIN_PX, height * LINE_PX + 2 * MARGIN_PX
    total = sum(moment.seconds for moment in moments)
    styles: list[str] = []
    frames: list[str] = []
    start = 0.0
    for number, (moment, screen) in enumerate(zip(moments, screens, strict=True)):
        end = start + moment.seconds
        styles.append(_animation(number, start / total, end / total, total))
        frames.append(f'<g class="frame f{number}">\n{_rows(screen, height)}\n</g>')
        start = end
    # Who wants no motion sees the last moment.
    styles.append(
        f"@media (prefers-reduced-motion:reduce){{.frame{{animation:none}}.f{len(moments) - 1}{{opacity:1}}}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width_px}" height="{height_px}" '
        f'viewBox="0 0 {width_px} {height_px}" role="img" aria-label="{escape(label)}">\n'
        f"<style>.frame{{opacity:0}}{''.join(styles)}</style>\n"
        f'<rect width="{width_px}" height="{height_px}" rx="8" fill="#0d1117"/>\n'
        f'<g font-family="{FONT}" font-size="13" fill="{COLOURS["default"]}">\n{chr(10).join(frames)}\n</g>\n</svg>\n'
    )


def _animation(number: int, start: float, end: float, total: float) -> str:
    """Return the style of a frame that is visible between two shares of the total time."""
    steps = f"0%{{opacity:{int(start == 0)}}}{start:.2%}{{opacity:1}}{end:.2%}{{opacity:{int(end == 1)}}}"
    steps += f"100%{{opacity:{int(end > 0.9999)}}}"
    return f"@keyframes k{number}{{{steps}}}.f{number}{{animation:k{number} {total:g}s step-end infinite}}"


def _screen(sent: bytes, columns: int, rows: int) -> pyte.Screen:
    screen = pyte.Screen(columns, rows)
    # The emulator does not know faint text; grey text looks the same.
    pyte.ByteStream(screen).feed(FAINT.sub(b"\x1b[90m", sent))
    return screen


def _used_rows(screen: pyte.Screen) -> int:
    return max((number for number, line in enumerate(screen.display, 1) if line.strip()), default=1)


def _rows(screen: pyte.Screen, height: int) -> str:
    return "\n".join(
        f'<text x="{MARGIN_PX}" y="{MARGIN_PX + LINE_PX * (number + 1) - 4}">{row}</text>'
        for number in range(height)
        if (row := _row(screen, number))
    )


def _row(screen: pyte.Screen, number: int) -> str:
    """Return a row's text in runs of one style, without trailing blanks."""
    length = len(screen.display[number].rstrip())
    cells = [screen.buffer[number][column] for column in range(length)]
    drawn = ""
    for (colour, is_bold), run in groupby(cells, key=lambda cell: (_colour(cell), cell.bold)):
        text = escape("".join(cell.data for cell in run)).replace(" ", NO_BREAK)
        style = "" if colour == COLOURS["default"] else f' fill="{colour}"'
        style += ' font-weight="bold"' if is_bold else ""
        drawn += f"<tspan{style}>{text}</tspan>" if style else text
    return drawn


def _colour(cell: pyte.screens.Char) -> str:
    name = cell.bg if cell.reverse and cell.bg != "default" else cell.fg
    return COLOURS.get(name, f"#{name}" if len(name) == 6 else COLOURS["default"])
