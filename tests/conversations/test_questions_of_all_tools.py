"""For every tool, a question contains everything to be approved, even for clients that only know the protocol."""

import json
from typing import Any, Final, cast

import pytest

from hermes_acp.core.plugins import PluginFolder
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import allow
from tests.conversations.scripted_provider import call, step
from tests.conversations.test_mcp_over_acp import carrying
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK: Final = "session/request_permission"
MIDDLE: Final = "\n".join(f"part{number} = {number}" for number in range(60))
LONG: Final = f"first_marker = 1\n{MIDDLE}\nlast_marker = 2"
"""A text with a beginning, a middle and an end, any of which a card could cut."""
NOTEBOOK: Final = json.dumps(
    {"cells": [{"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "execution_count": None, "source": "a"}],
     "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
)  # fmt: skip
SKILL: Final = f"---\nname: release-it\ndescription: How to release.\n---\n{LONG}\n"
TOOL_FILE: Final = f"""
TOOL = {{"name": "greet", "description": "Greet somebody.", "files": "none"}}


def run(name: str) -> str:
    return name


{LONG}
"""
PATCH: Final = "*** Begin Patch\n*** Add File: new.txt\n" + "\n".join(f"+{line}" for line in LONG.split("\n"))
CALLS: Final[dict[str, Json]] = {
    "apply_patch": {"patch": f"{PATCH}\n*** Delete File: old.txt\n*** End Patch"},
    "ask_user": {"question": LONG},
    "browser": {"action": "navigate", "url": "https://a.test/first_marker/last_marker"},
    "delegate": {"tasks": [{"title": "A task", "instructions": LONG}]},
    "edit_file": {"path": "old.txt", "old_text": "old", "new_text": LONG},
    "execute_code": {"code": LONG},
    "glob": {"pattern": "*.txt"},
    "list_files": {"path": "sub"},
    "memory": {"action": "add", "store": "memory", "text": "first_marker and last_marker"},
    "notebook_edit": {"path": "a.ipynb", "cell": "c", "source": LONG},
    "plan": {"entries": [{"content": "first_marker"}, {"content": "last_marker"}]},
    "read_file": {"path": "old.txt"},
    "search": {"pattern": "first_marker.*last_marker"},
    "session_search": {"query": "first_marker last_marker"},
    "skill": {"query": "first_marker last_marker"},
    "skill_manage": {"action": "create", "name": "release-it", "reason": "Needed often", "text": SKILL},
    "terminal": {"command": f"cat <<'EOF'\n{LONG}\nEOF", "cwd": "sub"},
    "tool_manage": {"action": "create", "name": "greet", "reason": "Needed often", "text": TOOL_FILE},
    "web_fetch": {"url": "https://a.test/first_marker/last_marker"},
    "write_file": {"path": "new.txt", "content": LONG},
}  # fmt: skip
"""One call of every tool, with everything it would run, write or send."""
SHOW_ONLY: Final = {"board", "card", "diagnostics", "git", "process", "schedule", "web_search"}
"""Tools that need something else on the machine; all their arguments are shown like those of any tool."""
SHOWN: Final[dict[str, tuple[str, ...]]] = {
    "apply_patch": (LONG, "old.txt"),
    "skill_manage": (SKILL,),
    "tool_manage": (TOOL_FILE,),
    "browser": ("https://a.test/first_marker/last_marker",),
    "delegate": ("A task", LONG),
    "memory": ("first_marker and last_marker",),
    "notebook_edit": ("first_marker = 1", "part30 = 30", "last_marker = 2"),
    "plan": ("first_marker", "last_marker"),
    "edit_file": (LONG,),
    "write_file": (LONG,),
    "terminal": (f"cat <<'EOF'\n{LONG}\nEOF", "sub"),
}
"""The parts of a call that must be readable; without an entry, all its texts."""


@pytest.fixture
def unstable(scene: Scene) -> Scene:
    scene.offer_unstable()
    return scene


def texts(value: Any) -> list[str]:
    """Return all strings in a value."""
    match value:
        case str():
            return [value]
        case dict():
            return [each for part in cast("Json", value).values() for each in texts(part)]
        case list():
            return [each for part in cast("list[Any]", value) for each in texts(part)]
        case _:
            return []


def readable(content: list[Json]) -> str:
    """Return the part of a question's content that is shown by a client that knows only the protocol."""
    shown: list[str] = []
    for part in content:
        if part["type"] == "diff":
            shown += [part["path"], part.get("oldText") or "", part["newText"]]
        else:
            shown.append(part["content"]["text"])
    return "\n".join(shown)


def flat(text: str) -> str:
    """Return a text without indentation."""
    return "\n".join(line.strip() for line in text.split("\n"))


async def asked_about(scene: Scene, name: str, arguments: Json) -> Json:
    """Have the model make one call that a rule asks about, and return the call in the question."""
    scene.configure(f"rules:\n- ask: {{tool: {name}}}\n")
    scene.write("old.txt", "old\n")
    scene.write("a.ipynb", NOTEBOOK)
    (scene.project / "sub").mkdir()
    reads = [
        call("read_file", "r1", path=path)
        for path in ("old.txt", "a.ipynb")
        if name in ("apply_patch", "edit_file", "notebook_edit")
    ]
    scene.provider.plays(
        *([step(*reads)] if reads else []), step(call(name, "c1", **arguments)), step("Done.")
    )
    async with scene.editor() as editor:
        editor.on[ASK] = lambda params: allow(
            "allow_once" if params["toolCall"]["name"] == "trust_workspace" else "reject_once"
        )(params)
        await editor.prompt(await editor.new_session(scene.project))
        assert editor.asks(ASK), scene.provider.requests[-1].messages[-1]
        return editor.asks(ASK)[-1]["toolCall"]


@pytest.mark.parametrize("name", CALLS)
async def test_the_question_contains_everything_that_the_call_would_run_or_write(
    scene: Scene, name: str
) -> None:
    question = await asked_about(scene, name, CALLS[name])
    shown = readable(question["content"])
    for text in SHOWN.get(name) or texts(CALLS[name]):
        assert flat(text) in flat(shown), f"{text!r} is not in the question:\n{shown}"
    assert "Asked because" in shown


async def test_the_question_contains_the_arguments_of_a_custom_tool(scene: Scene) -> None:
    path = scene.home / "tools" / "greet.py"
    path.parent.mkdir(parents=True)
    path.write_text(TOOL_FILE)
    question = await asked_about(scene, "greet", {"name": LONG})
    assert flat(LONG) in flat(readable(question["content"]))


async def test_the_question_contains_the_arguments_of_an_mcp_tool(unstable: Scene) -> None:
    given = {"text": LONG, "more": [{"size": 3, "note": "inner_marker"}]}
    unstable.provider.plays(step(call("mcp__carried__echo", "c1", **given)), step("Done."))
    async with carrying(unstable) as (editor, _, session):
        editor.on[ASK] = allow("reject_once")
        await editor.prompt(session)
        shown = readable(editor.asks(ASK)[-1]["toolCall"]["content"])
    assert flat(LONG) in flat(shown)
    assert "size: 3" in shown
    assert "note: inner_marker" in shown
    assert "Asked because a tool of the server carried would be called." in shown


async def test_a_text_cannot_imitate_another_argument(unstable: Scene) -> None:
    given = {"text": "hello\nsize: 3", "size": 4}
    unstable.provider.plays(step(call("mcp__carried__echo", "c1", **given)), step("Done."))
    async with carrying(unstable) as (editor, _, session):
        await editor.prompt(session)
        shown = editor.asks(ASK)[-1]["toolCall"]["_meta"]["hermes"]["approvalText"]
    assert shown == "text:\n  hello\n  size: 3\nsize: 4"


def test_every_tool_has_a_question_here() -> None:
    builtin: PluginFolder[object] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    assert set(CALLS) | SHOW_ONLY == set(builtin.names())
