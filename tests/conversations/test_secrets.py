"""A secret that a tool encounters reaches neither the model nor the record nor the editor."""

import ctypes
import random
import sys

import msgspec
import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step
from tests.unit.telemetry import secret_samples as samples

pytestmark = pytest.mark.anyio

DICE = random.Random(7)
TOKEN = "ghp" + "_" + samples.some(DICE, samples.LETTERS + samples.DIGITS, 36)
PASSWORD = samples.some(DICE, samples.LETTERS + samples.DIGITS, 20)
KEY = samples.key_block(DICE)
SETTINGS = f"GITHUB_TOKEN={TOKEN}\nDB_URL=postgres://app:{PASSWORD}@db/app\nMODE=fast\n{KEY}\n"
SECRETS = (TOKEN, PASSWORD, *KEY.split("\n")[1:-1])
PIECES = ("head -c 30 settings.txt", "tail -c +31 settings.txt | head -c 60", "tail -c +91 settings.txt")
BY_PIECES = "; sleep 0.15; ".join(PIECES)


def leaks(data: bytes) -> list[str]:
    return [secret for secret in SECRETS if msgspec.json.encode(secret)[1:-1] in data]


async def test_tool_output_contains_no_secret(scene: Scene) -> None:
    scene.write("settings.txt", SETTINGS)
    scene.provider.plays(
        step(call("terminal", "c1", command="cat settings.txt; cat missing.txt")),
        step(call("terminal", "c2", command=BY_PIECES)),
        step(call("read_file", "c3", path="settings.txt")),
        step(call("search", "c4", pattern="TOKEN|postgres|BEGIN|[A-Za-z0-9+/=]{20}")),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = ShownSession(editor, session)
        frames = msgspec.json.encode([frame for side, frame in editor.laws.frames if side == "agent"])
    assert leaks(frames) == []
    assert leaks(msgspec.json.encode(scene.provider.requests, enc_hook=vars)) == []
    for record in scene.home.rglob("*.jsonl"):
        assert leaks(record.read_bytes()) == []
    for call_id in ("c1", "c2", "c3"):
        text = reported.cards[call_id]["rawOutput"]["text"]
        assert "[secret: github token]" in text
        assert "postgres://app:[secret: password in a url]@db/app" in text
        assert "[secret: private key]" in text
        assert "MODE=fast" in text


async def test_a_file_with_a_secret_can_be_changed_but_not_damaged(scene: Scene) -> None:
    path = scene.write("settings.txt", SETTINGS)
    seen = "GITHUB_TOKEN=[secret: github token]\n"
    scene.provider.plays(
        step(call("read_file", "c1", path="settings.txt")),
        step(call("edit_file", "c2", path="settings.txt", old_text=seen, new_text="")),
        step(call("write_file", "c3", path="settings.txt", content=f"{seen}MODE=slow\n")),
        step(call("edit_file", "c4", path="settings.txt", old_text="MODE=fast", new_text="MODE=slow")),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = ShownSession(editor, session)
    assert reported.cards["c2"]["status"] == "failed"
    assert "it masks a secret" in reported.cards["c2"]["rawOutput"]["text"]
    assert reported.cards["c3"]["status"] == "failed"
    assert "would destroy" in reported.cards["c3"]["rawOutput"]["text"]
    assert reported.cards["c4"]["status"] == "completed"
    assert path.read_text(encoding="utf-8") == SETTINGS.replace("fast", "slow")
    # The user is shown the change as it is; the model never reads it.
    assert leaks(msgspec.json.encode(scene.provider.requests, enc_hook=vars)) == []


async def test_context_files_reach_the_model_without_secrets(scene: Scene) -> None:
    scene.write("AGENTS.md", f"Deploy with {TOKEN} only.\n")
    scene.provider.plays(step("Yes."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
    sent = msgspec.json.encode(scene.provider.requests, enc_hook=vars)
    assert leaks(sent) == []
    assert b"Deploy with [secret: github token] only." in sent


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux hides a process's memory this way"
)
async def test_commands_cannot_read_our_memory(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="true")), step("Done."))
    async with scene.editor() as editor:
        assert await editor.prompt(await editor.new_session(scene.project)) == "end_turn"
    get_dumpable = 3
    assert ctypes.CDLL(None).prctl(get_dumpable, 0, 0, 0, 0) == 0


async def test_commands_see_no_secrets_of_ours(scene: Scene) -> None:
    scene.variables |= {"ANTHROPIC_API_KEY": "own-key-0123456789", "CI_PAT": "x" * 9, "INNOCENT": TOKEN}
    scene.variables["MIRROR"] = f"https://me:{PASSWORD}@mirror.test/"
    scene.provider.plays(
        step(call("terminal", "c1", command="env; tr '\\0' '\\n' < /proc/self/environ")), step("Done.")
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        text = ShownSession(editor, session).cards["c1"]["rawOutput"]["text"]
    assert "PATH=" in text
    assert not [name for name in ("ANTHROPIC_API_KEY", "CI_PAT", "INNOCENT", "MIRROR") if name in text]
