"""How stored words and times are written on a terminal or as JSON.

Knows: which characters would steer a terminal, how bold is written there. Does not know: what is written.
"""

import re
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """Write what would steer a terminal as escapes; line ends and tabs stay."""
    return _STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def local_time(seconds: float) -> str:
    """Write a moment as the reader's clock shows it."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def exact_time(seconds: float) -> str:
    """Write a moment for programs."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def bold(text: str) -> str:
    """Make words stand out where the reader sits at a terminal."""
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text


def print_json(document: Any) -> None:
    """Print one JSON document on lines of its own."""
    encoded = msgspec.json.format(msgspec.json.encode(document), indent=2)
    print(encoded.decode())


def drop_output() -> None:
    """Let what is still to be written go nowhere: whoever read it has left."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def folder_named(named: str | None) -> str | None:
    """Return a folder as sessions record it: absolute, links left as they are."""
    from pathlib import Path

    return str(Path(named).absolute()) if named is not None else None


def note(sentence: str) -> None:
    """Tell the person something that is no part of the output."""
    print(f"hermes-acp: {sentence}", file=sys.stderr)
