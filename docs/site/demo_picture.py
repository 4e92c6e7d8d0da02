"""Draw docs/demo.svg from a real run of the demo: `python docs/site/pictures.py demo`.

Omitted lines are marked by a line of dots. Nothing is added.
"""

import re
import subprocess
import sys
import textwrap
from html import escape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PICTURE: Final = ROOT / "docs" / "demo.svg"
COLUMNS: Final = 104
NO_BREAK: Final = "\N{NO-BREAK SPACE}"
"""Browsers take several usual spaces for one."""
CHARACTER_PX: Final = 8.0
LINE_PX: Final = 18
MARGIN_PX: Final = 20
STYLES: Final = {
    "1": 'fill="#ffffff" font-weight="bold"',
    "2": 'fill="#8b949e"',
    "31": 'fill="#ff7b72"',
    "32": 'fill="#7ee787"',
    "33": 'fill="#e3b341"',
    "34": 'fill="#79c0ff"',
    "35": 'fill="#d2a8ff"',
    "36": 'fill="#56d4dd"',
}
CODE: Final = re.compile(r"\x1b\[(\d+)m")
STRETCHES: Final = (
    ("The task", "Allow once  ("),
    ("AssertionError", "[exit code: 1]"),
    ("A parcel of 501 g", "Edit rates.py  [completed]"),
    ("Now the tests again", "agent ▸ Now"),
    ("Run python3 -m unittest  [in progress]", "turn ended"),
    ("The server restarts", "session/list names"),
    ("session/load replays the prompt", "the answer and the cards"),
)


def draw_demo() -> Path:
    """Run the demo and write the picture."""
    command = [sys.executable, str(ROOT / "examples" / "demo"), "--recorded", "--colour"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=180)
    lines = [part for line in pick_lines(run.stdout.splitlines()) for part in wrap(line)]
    PICTURE.write_text(draw(lines), encoding="utf-8")
    return PICTURE


def pick_lines(lines: list[str]) -> list[str]:
    """Keep the stretches between their first and last line, in order; ValueError if the run lacks one."""
    picked: list[str] = []
    position = 0
    for first, last in STRETCHES:
        start = find(lines, first, position)
        end = find(lines, last, start)
        if picked and start > position:
            picked.append("\x1b[2m  ⋯\x1b[0m")
        picked += lines[start : end + 1]
        position = end + 1
    return picked


def find(lines: list[str], text: str, position: int) -> int:
    """Find the line that contains the text, ignoring colours."""
    for number in range(position, len(lines)):
        if text in CODE.sub("", lines[number]):
            return number
    raise ValueError(f"the demo's output has no line with {text!r} from line {position} on")


def wrap(line: str) -> list[str]:
    """Break a line that is too long for the picture; each part keeps the colours at its start."""
    if len(CODE.sub("", line)) <= COLUMNS:
        return [line]
    colour = match.group() if (match := CODE.match(line)) and line.endswith("\x1b[0m") else ""
    plain = line if not colour else CODE.sub("", line)
    parts = textwrap.wrap(plain, COLUMNS, subsequent_indent="    ", drop_whitespace=True)
    return [f"{colour}{part}\x1b[0m" if colour else part for part in parts]


def draw(lines: list[str]) -> str:
    """Return the lines as an SVG."""
    width = int(COLUMNS * CHARACTER_PX) + 2 * MARGIN_PX
    height = len(lines) * LINE_PX + 2 * MARGIN_PX
    rows = "\n".join(
        f'<text x="{MARGIN_PX}" y="{MARGIN_PX + LINE_PX * number - 4}">{draw_line(line)}</text>'
        for number, line in enumerate(lines, 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="A run of make demo in a terminal">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n'
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="13" fill="#e6edf3">\n{rows}\n</g>\n</svg>\n'
    )


def draw_line(line: str) -> str:
    """Return one line's pieces, each in its colour."""
    pieces = CODE.split(line.replace(" ", NO_BREAK))
    drawn = escape(pieces[0])
    for style, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if text:
            drawn += f"<tspan {STYLES[style]}>{escape(text)}</tspan>" if style in STYLES else escape(text)
    return drawn
