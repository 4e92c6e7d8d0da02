"""Hooks at every point of a session: what they receive, what they can do, what happens when they fail."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.to_thread import run_sync

from hermes_acp.core.messages import ModelRequest, ToolMessage, UserMessage, words_in
from tests.conversations.app_scene import Scene
from tests.conversations.draft_editor import drafter, idles, new_session, saying
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Pause, Step, call, step
from tests.conversations.test_cancelling import is_alive

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


def configure(scene: Scene, **hooks: dict[str, Any]) -> None:
    scene.configure(json.dumps({"hooks": hooks}))


def outcome_of(request: ModelRequest) -> str:
    return next(m.text for m in reversed(request.messages) if isinstance(m, ToolMessage))


def notes_in(request: ModelRequest) -> str:
    return "\n".join(
        words_in(m.parts) for m in request.messages if isinstance(m, UserMessage) and m.origin == "program"
    )


def notices(editor: FakeEditor, session: str) -> str:
    return "".join(u["content"]["text"] for u in ShownSession(editor, session).of("agent_thought_chunk"))


def writes(name: str = "a.py", call_id: str = "w1", content: str = "x=1\n") -> Step:
    return step(call("write_file", call_id, path=name, content=content))


async def test_a_hook_after_an_edit_changes_the_file_and_informs_the_model(scene: Scene) -> None:
    log = scene.home / "seen.json"
    configure(
        scene,
        format={
            "event": "after_tool",
            "tools": ["edit"],
            "paths": ["*.py"],
            "command": f"cat > {log}; echo 'x = 1' > a.py; echo '1 file formatted'",
        },
    )
    scene.provider.plays(writes(), writes("b.txt", "w2"), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        cards = ShownSession(editor, session).cards
    assert {card["status"] for card in cards.values()} == {"completed"}
    assert (scene.project / "a.py").read_text() == "x = 1\n"
    reported = outcome_of(scene.provider.requests[1])
    assert "1 file formatted" in reported
    assert "Output of the hook format, untrusted" in reported
    assert f"A hook changed {scene.project}/a.py after this call" in reported
    assert "hook" not in outcome_of(scene.provider.requests[2])
    seen = json.loads(log.read_text())
    assert (seen["version"], seen["event"], seen["hook"]) == (1, "after_tool", "format")
    assert (seen["tool_name"], seen["tool_kind"], seen["status"]) == ("write_file", "edit", "completed")
    assert seen["paths"] == [f"{scene.project}/a.py"]
    assert seen["tool_input"]["content"] == "x=1\n"
    assert (seen["session_id"], seen["cwd"], seen["mode"]) == (session, str(scene.project), "ask")


async def test_a_hook_rejects_a_call_before_anybody_is_asked(scene: Scene) -> None:
    configure(
        scene,
        guard={
            "event": "before_tool",
            "paths": ["generated/**"],
            "command": "echo 'edit the template' >&2; exit 2",
        },
    )
    scene.provider.plays(writes("generated/a.py"), writes("b.py", "w2"), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        cards = ShownSession(editor, session).cards
    assert [cards[each]["status"] for each in ("w1", "w2")] == ["failed", "completed"]
    assert not (scene.project / "generated").exists()
    assert len(editor.asks(ASK)) == 1
    assert "Refused by the hook guard: edit the template" in outcome_of(scene.provider.requests[1])


async def test_a_hook_can_reject_by_json_too(scene: Scene) -> None:
    configure(scene, guard={"event": "before_tool", "command": """echo '{"refuse": "not today"}'"""})
    scene.provider.plays(writes(), step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert "Refused by the hook guard: not today" in outcome_of(scene.provider.requests[1])


async def test_a_hook_written_for_another_agent_rejects_in_its_own_format(scene: Scene) -> None:
    answer = '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": ("not " + .tool_name)}}'
    configure(scene, guard={"event": "before_tool", "format": "claude", "command": f"jq -c '{answer}'"})
    scene.provider.plays(writes(), step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert "Refused by the hook guard: not Write" in outcome_of(scene.provider.requests[1])


async def test_a_rejected_prompt_never_reaches_the_model(scene: Scene) -> None:
    configure(
        scene,
        check={"event": "prompt", "command": "if grep -q hunter2; then echo 'no passwords' >&2; exit 2; fi"},
    )
    scene.provider.plays(step("Hello."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "log in with hunter2") == "refusal"
        assert await editor.prompt(session, "hi") == "end_turn"
        assert "Refused by the hook check: no passwords" in notices(editor, session)
    (request,) = scene.provider.requests
    assert "hunter2" not in str(request.messages)
    assert "hunter2" not in scene.record_of(session).read_text()


async def test_hooks_add_context_to_a_prompt_and_to_the_start_of_a_session(scene: Scene) -> None:
    configure(
        scene,
        branch={"event": "session_start", "command": "echo on branch main"},
        issue={"event": "prompt", "command": """echo '{"context": "issue 7 is open"}'"""},
    )
    scene.provider.plays(step("One."), step("Two."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        await editor.prompt(session)
    first, second = map(notes_in, scene.provider.requests)
    assert (first.count("on branch main"), first.count("issue 7 is open")) == (1, 1)
    assert (second.count("on branch main"), second.count("issue 7 is open")) == (1, 2)
    assert "Output of the hook branch, untrusted" in first


async def test_hooks_are_notified_of_questions_and_of_the_end(scene: Scene, tmp_path: Path) -> None:
    pipes = {event: tmp_path / event for event in ("question", "turn_end")}
    for pipe in pipes.values():
        os.mkfifo(pipe)
    configure(scene, **{event: {"event": event, "command": f"cat > {pipe}"} for event, pipe in pipes.items()})
    scene.provider.plays(writes(), step("All done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        heard = {event: await run_sync(pipe.read_text) for event, pipe in pipes.items()}
    events = {event: json.loads(text) for event, text in heard.items()}
    assert events["question"]["tool_name"] == "write_file"
    assert (events["turn_end"]["reason"], events["turn_end"]["answer"]) == ("done", "All done.")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo oops >&2; exit 1", "exit code 1: oops"),
        ("echo '{'", "starts like JSON, but is not a JSON object"),
        ("""echo '{"allow": true}'""", "has the field 'allow'"),
        ("no-such-program", "exit code 127"),
    ],
)
async def test_a_failed_hook_is_reported_once_and_the_work_continues(
    scene: Scene, command: str, why: str
) -> None:
    configure(scene, lint={"event": "after_tool", "command": command})
    scene.provider.plays(writes(), writes("b.py", "w2"), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = notices(editor, session)
        cards = ShownSession(editor, session).cards
    assert reported.count("The hook lint failed") == 1
    assert why in reported
    assert {card["status"] for card in cards.values()} == {"completed"}


async def test_a_failed_required_hook_rejects(scene: Scene) -> None:
    configure(scene, guard={"event": "before_tool", "command": "exit 1", "required": True})
    scene.provider.plays(writes(), step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert "it is required and failed (exit code 1)" in outcome_of(scene.provider.requests[1])
    assert not (scene.project / "a.py").exists()


async def test_calls_by_children_and_scripts_trigger_the_same_hooks(scene: Scene) -> None:
    configure(scene, guard={"event": "before_tool", "tools": ["write_file"], "command": "exit 2"})
    task = {"title": "T", "instructions": "Write it."}
    scene.provider.plays(step(call("delegate", "d1", tasks=[task])), writes(), step("Tried."), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_once")
        await editor.prompt(await editor.new_session(scene.project))
    assert any("Refused by the hook guard" in str(request.messages) for request in scene.provider.requests)
    assert not (scene.project / "a.py").exists()


async def test_a_hook_gets_no_secret_of_the_agent(scene: Scene, tmp_path: Path) -> None:
    scene.variables["OPENAI_API_KEY"] = "sk-proj-" + "a1B2" * 12
    out = tmp_path / "env"
    configure(scene, peek={"event": "session_start", "command": f"env > {out}"})
    scene.provider.plays(step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert "HERMES_ACP_HOOK=1" in out.read_text()
    assert "sk-proj" not in out.read_text()


async def test_an_agent_started_by_a_hook_runs_no_hooks(scene: Scene) -> None:
    scene.variables["HERMES_ACP_HOOK"] = "1"
    configure(scene, guard={"event": "before_tool", "command": "exit 2"})
    scene.provider.plays(writes(), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert notices(editor, session).count("Hooks are off") == 1
    assert (scene.project / "a.py").exists()


async def test_a_hooks_formatting_is_undone_with_the_edit(scene: Scene) -> None:
    scene.overrides["checkpoints.enabled"] = True
    path = scene.write("a.py", "x = 0\n")
    configure(
        scene, format={"event": "after_tool", "tools": ["write_file"], "command": "echo 'x = 1' > a.py"}
    )
    scene.provider.plays(step(call("read_file", "r1", path="a.py")), writes(), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert path.read_text() == "x = 1\n"
        await editor.prompt(session, "/undo")
        assert path.read_text() == "x = 0\n"


async def test_a_steering_message_triggers_the_hooks_too(scene: Scene) -> None:
    configure(scene, check={"event": "prompt", "command": "if grep -q hunter2; then exit 2; fi"})
    pause = Pause()
    scene.provider.plays(step(pause, "One."), step("Two."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)

        async def steer() -> None:
            await pause.reached.wait()
            params = {
                "sessionId": session,
                "prompt": [{"type": "text", "text": "use hunter2"}],
                "_meta": {"hermes": {"steers": True}},
            }
            assert (await editor.call("session/prompt", params))["stopReason"] == "refusal"
            pause.go.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(steer)
            assert await editor.prompt(session) == "end_turn"
    assert all("hunter2" not in str(request.messages) for request in scene.provider.requests)


async def test_the_draft_of_version_2_reports_a_rejected_prompt(draft: Scene) -> None:
    configure(draft, check={"event": "prompt", "command": "echo not now >&2; exit 2"})
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        refusal = await editor.refusal("session/prompt", saying(session))
        assert "Refused by the hook check: not now" in str(refusal)
        await editor.until(lambda: idles(editor, session))
        assert idles(editor, session)[-1]["stopReason"] == "refusal"


async def test_different_failures_of_a_hook_are_reported_once_each(scene: Scene) -> None:
    configure(scene, lint={"event": "after_tool", "command": "grep -o 'call_id.*' >&2; exit 1"})
    scene.provider.plays(writes(), writes("b.py", "w2"), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert notices(editor, session).count("The hook lint failed") == 1


async def test_closing_a_session_stops_running_hooks(scene: Scene, tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    configure(scene, slow={"event": "turn_end", "command": f"echo $$ > {started}; sleep 1000"})
    scene.provider.plays(step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        pid = int((await run_sync(started.read_text)).strip())
        await editor.call("session/close", {"sessionId": session})
        assert not is_alive(pid)


async def test_a_hooks_formatting_is_reviewed_with_the_edit(scene: Scene) -> None:
    path = scene.write("a.py", "x = 0\ny = 0\n")
    line = "sed -i 's/x=1/x = 1/' a.py"
    configure(scene, format={"event": "after_tool", "tools": ["edit"], "command": line})
    scene.overrides["mode"] = "accept_edits"
    written = writes(content="x=1\ny = 0\n")
    scene.provider.plays(step(call("read_file", "r1", path="a.py")), written, step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (diff,) = [each for each in ShownSession(editor, session).cards["w1"]["content"] if "newText" in each]
        assert (diff["oldText"], diff["newText"]) == ("x = 0\ny = 0\n", "x = 1\ny = 0\n")
        (file,) = (await editor.call("_hermes/edits/list", {"sessionId": session}))["files"]
        assert [hunk["newLines"] for hunk in file["hunks"]] == [["x = 1"]]
        said = {"sessionId": session, "path": str(path), "verdict": "rejected"}
        assert await editor.call("_hermes/edits/judge", said) == {"open": 0}
    assert path.read_text() == "x = 0\ny = 0\n"


async def test_the_inner_calls_of_a_script_trigger_hooks(scene: Scene) -> None:
    configure(scene, guard={"event": "before_tool", "tools": ["write_file"], "command": "exit 2"})
    body = "    tools.write_file(path='a.py', content='1')"
    code = f"import tools\ntry:\n{body}\nexcept tools.ToolError as error:\n    print(error)"
    scene.provider.plays(step(call("execute_code", "e1", code=code)), step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert "Refused by the hook guard" in outcome_of(scene.provider.requests[1])
    assert not (scene.project / "a.py").exists()


async def test_resuming_a_session_triggers_the_start_hook_and_commands_are_not_prompts(scene: Scene) -> None:
    log = scene.home / "log"
    configure(
        scene,
        start={"event": "session_start", "command": f"""grep -o '"source":"[a-z]*' >> {log}"""},
        prompt={"event": "prompt", "command": f"""grep -o '"prompt":"[a-z]*' >> {log}"""},
    )
    scene.provider.plays(step("One."), step("Two."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "/status")
        await editor.prompt(session, "first")
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session, "second")
    said = [line.rpartition('"')[2] for line in log.read_text().splitlines()]
    assert said == ["first", "new", "second", "resumed"]
