"""Generate the reference pages from the code: `python docs/reference/generate.py`, and `--check` in the tests."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from reference_pages import commands, events, exit_codes, own_methods, settings, slash_commands, tools

FOLDER: Final = Path(__file__).resolve().parent
PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "commands.md": commands.render,
        "events.md": events.render,
        "exit-codes.md": exit_codes.render,
        "acp-methods.md": own_methods.render,
        "settings.md": settings.render,
        "slash-commands.md": slash_commands.render,
        "tools.md": tools.render,
    }
)


def main() -> int:
    """Write the pages; with `--check`, only name those that are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    is_check = parser.parse_args().check
    stale = 0
    for name, render in PAGES.items():
        path, text = FOLDER / name, render()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if is_check:
            print(f"docs/reference/{name} is out of date: run `python docs/reference/generate.py`")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"docs/reference/{name} is written")
    return int(is_check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
