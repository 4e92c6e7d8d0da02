"""Take the picture of the web page: a question about an edit, with its diff."""

import tempfile
from pathlib import Path
from typing import Final

import anyio

from tests.e2e.web_page import ask, require_page, visiting
from tests.model_server import Reply, ToolCall

PICTURE: Final = Path(__file__).resolve().parents[1] / "web-page.png"
BEFORE: Final = "RATE = 0.19\n\n\ndef gross(net):\n    return net * (1 + RATE)\n"
READ: Final = ToolCall("read_file", {"path": "shop/tax.py"})
EDIT: Final = ToolCall(
    "edit_file",
    {
        "path": "shop/tax.py",
        "old_text": "def gross(net):\n    return net * (1 + RATE)",
        "new_text": "def gross(net: float) -> float:\n"
        '    """Return the price with tax."""\n    return round(net * (1 + RATE), 2)',
    },
)


def draw_web_page() -> Path:
    """Let a scripted model propose an edit, and take the picture of the question."""
    anyio.run(_draw, require_page(is_required=True))
    return PICTURE


async def _draw(browser: str) -> None:
    replies = (
        Reply("I look at the tax first.", tool_calls=(READ,)),
        Reply("One change.", tool_calls=(EDIT,)),
    )
    size = {"width": 760, "height": 620}
    with tempfile.TemporaryDirectory() as folder:
        async with visiting(Path(folder), browser, *replies, viewport=size) as visit:
            (visit.workspace / "shop").mkdir()
            (visit.workspace / "shop" / "tax.py").write_text(BEFORE)
            page = await visit.begin()
            await ask(page, "Round the price to cents")
            await page.get_by_role("button", name="Allow once").wait_for()
            await page.screenshot(path=PICTURE, animations="disabled")
