"""Record `hermes-acp chat --full` on a terminal, its model scripted, and draw docs/full-screen-chat.svg."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

import anyio
from chat_picture import MODEL, PROMPT, REPLIES
from terminal_svg import Moment, draw_moments

from hermes_acp.frontends.chat.full_screen.messages import ANSWER_KEY, SESSIONS_KEYS
from tests.e2e.agent_process import agent_environment
from tests.e2e.chat_terminal import ENTER, chat_on_terminal
from tests.model_server import serve

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURE: Final = ROOT / "docs" / "full-screen-chat.svg"
COLUMNS: Final = 120
ROWS: Final = 36
F2, F4 = "\x1bOQ", "\x1bOS"


def draw_full_chat() -> Path:
    """Record the chat and write the picture."""
    moments = anyio.run(_record)
    label = "hermes-acp chat --full: a question with its diff, the answer, and the pane of sessions"
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
                "--full", environment=environment, cwd=project, rows=ROWS, columns=COLUMNS
            ) as chat:
                moments: list[Moment] = []
                await chat.see(f"{MODEL} · ask")
                chat.type(f"{PROMPT}{ENTER}")
                await chat.see(ANSWER_KEY)
                await chat.see("+     further_steps")
                moments.append(Moment(chat.raw, 5))
                chat.type(f"{F2}y")
                await chat.see("as much as a full one.")
                moments.append(Moment(chat.raw, 4))
                chat.type(F4)
                await chat.see(SESSIONS_KEYS.split(" · ")[0])
                await chat.see(PROMPT[:20])
                moments.append(Moment(chat.raw, 4))
                return moments
