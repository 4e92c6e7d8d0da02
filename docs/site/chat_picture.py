"""Record `hermes-acp chat` on a terminal, its model scripted, and draw docs/chat.svg."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

import anyio
from terminal_svg import Moment, draw_moments

from hermes_acp.frontends.chat.messages import IDLE_PLACEHOLDER, YOUR_ANSWER
from tests.e2e.agent_process import agent_environment
from tests.e2e.chat_terminal import ENTER, Terminal, chat_on_terminal
from tests.model_server import Reply, ToolCall, serve

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURE: Final = ROOT / "docs" / "chat.svg"
COLUMNS: Final = 92
ROWS: Final = 34
MODEL: Final = "qwen3-coder"
"""What the scripted model is called in the picture."""
PROMPT: Final = "A parcel of 501 g is charged as one of 500 g. Fix it."
OLD: Final = "    further_steps = max(0, weight_g - INCLUDED_G) // STEP_G\n"
NEW: Final = "    further_steps = -(-max(0, weight_g - INCLUDED_G) // STEP_G)\n"
REPLIES: Final = (
    Reply(
        thinking="The price of a started step is missing. I look at how steps are counted.",
        tool_calls=(ToolCall("read_file", {"path": "rates.py"}),),
    ),
    Reply(
        "A started step of 500 g has to count as a whole one, so the division must round up.",
        tool_calls=(ToolCall("edit_file", {"path": "rates.py", "old_text": OLD, "new_text": NEW}),),
    ),
    Reply("Done. `price_cents(501)` is now **530**: a started step costs as much as a full one."),
)


def draw_chat() -> Path:
    """Record the chat and write the picture."""
    moments = anyio.run(_record)
    label = "hermes-acp chat: a prompt, an edit shown as a diff, an approval, and the answer"
    PICTURE.write_text(draw_moments(moments, columns=COLUMNS, rows=ROWS, label=label), encoding="utf-8")
    return PICTURE


async def _record() -> list[Moment]:
    """Return the terminal output up to each moment of the picture."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        project = home / "parcels"
        shutil.copytree(ROOT / "examples" / "sample_project", project)
        async with serve(REPLIES) as server:
            environment = agent_environment(home, server, HERMES_MODEL=MODEL)
            async with chat_on_terminal(
                environment=environment, cwd=project, rows=ROWS, columns=COLUMNS
            ) as chat:
                moments: list[Moment] = []
                await chat.see(f"{MODEL} · ask")
                chat.type(PROMPT)
                await chat.see(PROMPT)
                moments.append(Moment(chat.raw, 2))
                chat.type(ENTER)
                await chat.see(YOUR_ANSWER)
                moments.append(Moment(chat.raw, 6))
                chat.type("1")
                await chat.see("as much as a full one.")
                await chat.until(lambda: _is_at_rest(chat), "the prompt and the status")
                moments.append(Moment(chat.raw, 6))
                return moments


def _is_at_rest(chat: Terminal) -> bool:
    """Return whether the prompt and the status below it are on the screen."""
    screen = "\n".join(chat.lines)
    return IDLE_PLACEHOLDER in screen and f"{MODEL} · ask" in screen
