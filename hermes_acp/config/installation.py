"""Where hermes-acp was installed from, and the command that adds an optional extra to it.

The package is not in any index, so a name that anybody could register there is never suggested.
Source: PEP 610, "Recording the Direct URL Origin of installed distributions".
"""

import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

DISTRIBUTION: Final = "hermes-acp-server"
CLONE: Final = "."
"""The source suggested if the real one is unknown: a clone of the repository, as the current folder."""


class _DirectoryInfo(Struct, frozen=True):
    editable: bool = False


class _DirectUrl(Struct, frozen=True):
    url: str = ""
    dir_info: _DirectoryInfo = _DirectoryInfo()


def install_command(extra: str, origin: str | None = None) -> str:
    """Return the command that installs an extra from where hermes-acp itself came from.

    `origin` is the text of `direct_url.json`; None reads it from this installation.
    """
    source, is_editable = _source_of(_recorded_origin() if origin is None else origin)
    python = "python" if source == CLONE else sys.executable
    words = [python, "-m", "pip", "install", *(["-e"] if is_editable else []), f"{source}[{extra}]"]
    return shlex.join(words)


def extra_hint(extra: str) -> str:
    """Return the sentence that says how to install an extra."""
    command = install_command(extra)
    where = " in a clone of hermes-acp" if f"'{CLONE}[" in command else ""
    return f"Install it: {command}{where}."


def _recorded_origin() -> str:
    try:
        return distribution(DISTRIBUTION).read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return ""


def _source_of(origin: str) -> tuple[str, bool]:
    """Return the local folder or wheel of an installation, and whether it is editable."""
    try:
        found = msgspec.json.decode(origin, type=_DirectUrl)
    except msgspec.DecodeError:
        return CLONE, False
    parts = urlsplit(found.url)
    path = unquote(parts.path)
    if parts.scheme != "file" or not Path(path).exists():
        return CLONE, False
    return path, found.dir_info.editable
