"""Render a page for the model: as a tree of elements with refs, or as an image."""

import json
from base64 import b64encode
from typing import Final

from playwright.sync_api import Page

MAX_CHARACTERS: Final = 40_000
MAX_TITLE_CHARACTERS: Final = 1000
PASSWORDS: Final = "fields => fields.map(field => field.value)"
HIDDEN: Final = "[a password, not shown]"


def view_page(page: Page, *, is_picture: bool, timeout_ms: int) -> dict[str, str]:
    """Return the page, as an image or a tree, and its title. A frame that takes longer is not in the tree."""
    image = page.screenshot(type="png") if is_picture else b""
    tree = "" if image else page.aria_snapshot(mode="ai", timeout=timeout_ms)
    tree = _without_passwords(page, tree)
    cut = f"\n[… {len(tree) - MAX_CHARACTERS:,} more characters]" if len(tree) > MAX_CHARACTERS else ""
    return {
        "title": page.title()[:MAX_TITLE_CHARACTERS],
        "text": tree[:MAX_CHARACTERS] + cut,
        "image": b64encode(image).decode(),
    }


def _without_passwords(page: Page, tree: str) -> str:
    """Hide the content of password fields."""
    if "textbox" not in tree:
        return tree
    values = [
        value
        for frame in page.frames
        for value in frame.locator("input[type=password]").evaluate_all(PASSWORDS)
        if value
    ]
    shown = tuple(f": {written}" for value in values for written in (value, json.dumps(value)))
    lines = tree.split("\n") if shown else []
    hidden = [f"{line.partition(': ')[0]}: {HIDDEN}" if line.endswith(shown) else line for line in lines]
    return "\n".join(hidden) if shown else tree
