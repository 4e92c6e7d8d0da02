"""Measure how long the server takes to drop an inline completion that a keystroke has made obsolete.

The floor is the round trip of a trivial request in the same process, which measures the pipe and the event loop. The
document has 5,000 lines and is edited one character at a time, as in an editor; the model's answer is held back. Run:
python -m bench.completion [KEYSTROKES]
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from tests.e2e.agent_process import agent_environment
from tests.e2e.lsp_editor import RICH, LspEditor, Message, lsp_editor
from tests.model_server import Hold, Reply, serve

GOAL_MS = 20.0
LINES = 5_000
WANTED = {"inlineCompletion": {"enabled": True, "debounceMs": 0}}


def at(uri: str, line: int, character: int) -> Message:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def typed(uri: str, version: int, line: int, character: int) -> Message:
    place = {"line": line, "character": character}
    change = {"range": {"start": place, "end": place}, "text": "x"}
    return {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}


async def round_trip(editor: LspEditor, uri: str) -> float:
    begun = time.perf_counter()
    await editor.call("textDocument/hover", at(uri, 0, 0))
    return time.perf_counter() - begun


async def keystroke(
    editor: LspEditor, uri: str, number: int, is_asked: Callable[[], anyio.Event], *, waits: bool
) -> float:
    """Request a suggestion, optionally wait until the model is generating, type, and time the response."""
    asked = is_asked()
    params = {**at(uri, LINES // 2, number), "context": {"triggerKind": 2}}
    call_id = await editor.begin("textDocument/inlineCompletion", params)
    if waits:
        await asked.wait()
    begun = time.perf_counter()
    await editor.notify("textDocument/didChange", typed(uri, number + 2, LINES // 2, number))
    reply = await editor.reply_to(call_id)
    took_s = time.perf_counter() - begun
    if reply.get("result") != []:
        raise RuntimeError(f"the suggestion was not dropped: {reply}")
    return took_s


async def main(keystrokes: int) -> None:
    reached = anyio.Event()

    def is_asked() -> anyio.Event:
        nonlocal reached
        reached = anyio.Event()
        return reached

    def hold(_: object) -> Reply:
        return Reply("never said", holds=(Hold(anyio.Event(), reached=reached),))

    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        home = Path(place).resolve()
        project = home / "project"
        project.mkdir()
        async with serve(hold) as server, lsp_editor(agent_environment(home, server), home) as editor:
            await editor.initialize(project, RICH, WANTED)
            text = "".join(f"value_{number} = {number}\n" for number in range(LINES))
            uri = await editor.open(project / "long.py", text)
            await keystroke(editor, uri, 0, is_asked, waits=True)
            idle = [await round_trip(editor, uri) for _ in range(keystrokes)]
            held = [
                await keystroke(editor, uri, number, is_asked, waits=True)
                for number in range(1, keystrokes + 1)
            ]
            early = [
                await keystroke(editor, uri, number, is_asked, waits=False)
                for number in range(keystrokes + 1, 2 * keystrokes + 1)
            ]
    for name, values in (
        ("idle round trip", idle),
        (f"keystroke → dropped, while generating (≤ {GOAL_MS:.0f})", held),
        (f"keystroke → dropped, before generating (≤ {GOAL_MS:.0f})", early),
    ):
        worst = sorted(values)[max(0, int(len(values) * 0.99) - 1)]
        middle = statistics.median(values)
        ratio = middle / statistics.median(idle)
        print(
            f"{name:54} median {middle * 1e3:6.2f} ms, p99 {worst * 1e3:6.2f} ms, {ratio:4.1f} x the idle one"
        )


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 100)
