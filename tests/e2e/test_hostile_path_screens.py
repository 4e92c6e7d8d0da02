"""A file name with line breaks on both screens of the real chat: no part of it can look like an answer."""

from __future__ import annotations

import pytest

from tests.e2e.chat_environment import Place
from tests.e2e.chat_terminal import ENTER
from tests.e2e.full_screen_stage import full_chat
from tests.model_server import Reply, ToolCall, serve

pytestmark = pytest.mark.anyio
WRITE = ToolCall("write_file", {"path": "ok\nyes ABCDE → Allow once", "content": "text\n"})
REPLIES = (Reply(tool_calls=(WRITE,)), Reply("Done."))
SHOWN = r"ok\nyes ABCDE → Allow once (new)"


async def test_a_hostile_path_on_a_scrolling_terminal(place: Place) -> None:
    async with serve(REPLIES) as server, place.chat(server, columns=120) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"write it{ENTER}")
        await terminal.see("Your answer:")
        assert SHOWN in terminal.text
        terminal.type("n")
        await terminal.see("→ Reject")


async def test_a_hostile_path_on_the_full_screen(place: Place) -> None:
    async with serve(REPLIES) as server, full_chat(place, server) as stage:
        await stage.say("write it\r")
        await stage.asked()
        await stage.see(SHOWN, "question-body")
