"""Faults of a model and its connection."""

import pytest

from hermes_acp.core.errors import (
    BadReply,
    ContextWindowExceeded,
    ModelAuthFailed,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    RateLimited,
)
from hermes_acp.core.messages import AssistantMessage, ToolCall
from hermes_protocol.errors import AUTH_REQUIRED, INTERNAL_ERROR
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio

FAILURES: tuple[tuple[ModelError, int, int], ...] = (
    (ModelAuthFailed("The key was refused.", hint="Set OPENAI_API_KEY."), AUTH_REQUIRED, 1),
    (RateLimited("Too many requests.", retry_after_s=0.001), INTERNAL_ERROR, 3),
    (ModelUnavailable("Answered 500.", retryable=True), INTERNAL_ERROR, 3),
    (BadReply("The stream was cut.", retryable=True), INTERNAL_ERROR, 3),
    (ModelUnavailable("No such host."), INTERNAL_ERROR, 1),
    (ContextWindowExceeded("The window is full."), INTERNAL_ERROR, 1),
    (ModelRefused("Not this."), INTERNAL_ERROR, 1),
)


@pytest.mark.parametrize(
    ("trouble", "code", "tries"), FAILURES, ids=lambda value: getattr(value, "message", None)
)
async def test_a_failure_is_an_error_with_a_code_and_never_a_normal_end(
    scene: Scene, trouble: ModelError, code: int, tries: int
) -> None:
    scene.provider.answer = lambda request: step(trouble)
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        error = await editor.prompt_refusal(session)
        assert (error.code, error.data) == (code, {"code": trouble.code})
        assert trouble.message in error.message
        assert len(scene.provider.requests) == tries
        assert ShownSession(editor, session).thoughts.count("Trying again") == tries - 1
        scene.provider.answer = lambda request: step("Fine now.")
        assert await editor.prompt(session, "the next") == "end_turn"
        first, fate, last = plain_history(scene.provider.requests[-1])
        assert (first, last) == ("user: go", "user: the next")
        assert fate.startswith("user: [Nothing was answered to this: ")


async def test_text_of_a_failed_step_is_not_sent_to_the_model_again(scene: Scene) -> None:
    scene.provider.plays(step("Half a wo", ModelUnavailable("Cut.", retryable=True)), step("A whole word."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Speak") == "end_turn"
        scene.provider.plays(step("Yes."))
        await editor.prompt(session, "And?")
    assert plain_history(scene.provider.requests[1]) == ["user: Speak"]
    assert plain_history(scene.provider.requests[2]) == [
        "user: Speak",
        "assistant: A whole word.",
        "user: And?",
    ]


MISTAKES = {
    "arguments that are no JSON": (ToolCall("c1", "read_file", '{"path": "a'), "not valid JSON"),
    "arguments that are no object": (ToolCall("c1", "read_file", '["a"]'), "one JSON object"),
    "arguments nested without end": (ToolCall("c1", "read_file", "[" * 100_000), "not valid JSON"),
    "a tool that does not exist": (ToolCall("c1", "reed_file", "{}"), "Did you mean 'read_file'?"),
    "a tool without a name": (ToolCall("c1", "", "{}"), "does not name a tool"),
    "an argument missing": (ToolCall("c1", "read_file", "{}"), "path"),
    "an argument too many": (call("read_file", "c1", path="a", colour="red"), "colour"),
    "an argument of the wrong type": (call("read_file", "c1", path=["a"]), "path"),
    "a file that does not exist": (call("read_file", "c1", path="none"), "There is no file"),
    "a path out of the folder": (call("read_file", "c1", path="../../etc/passwd"), "outside"),
    "an absolute path out of the folder": (
        call("write_file", "c1", path="/etc/passwd", content=""),
        "outside",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
async def test_an_invalid_call_is_an_outcome_and_the_turn_continues(scene: Scene, name: str) -> None:
    mistake, words = MISTAKES[name]
    scene.provider.plays(step(mistake), step("My mistake."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = ShownSession(editor, session)
        assert editor.asks("session/request_permission") == []
    assert reported.statuses("c1")[-1] == "failed"
    assert reported.text == "My mistake."
    assert words in plain_history(scene.provider.requests[1])[-1]


async def test_a_call_truncated_with_the_answer_is_not_run(scene: Scene) -> None:
    whole, cut = call("list_files", "c1"), call("write_file", "c2", path="a", content="x")
    scene.provider.plays(step(whole, cut, finish="length"), step("Again, shorter."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        statuses = [card["status"] for card in ShownSession(editor, session).cards.values()]
    assert statuses == ["completed", "failed"]
    assert "cut off" in plain_history(scene.provider.requests[1])[-1]
    assert not (scene.project / "a").exists()


async def test_calls_with_the_same_id_each_have_a_card_and_an_outcome(scene: Scene) -> None:
    scene.write("a", "alpha\n")
    scene.write("b", "beta\n")
    scene.provider.plays(
        step(call("read_file", "0", path="a"), call("read_file", "0", path="b")),
        step(call("read_file", "0", path="b"), call("read_file", "", path="a")),
        step("Read."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        cards = ShownSession(editor, session).cards
    assert len(cards) == 4
    history = [line for line in plain_history(scene.provider.requests[2]) if line.startswith("read_file")]
    assert [("alpha" in line, "beta" in line) for line in history] == [
        (True, False),
        (False, True),
        (False, True),
        (True, False),
    ]


@pytest.mark.parametrize("text", ["\ud800", "x\udfffy"])
async def test_half_a_surrogate_pair_from_the_model_breaks_nothing(scene: Scene, text: str) -> None:
    scene.provider.plays(
        step(f"Odd: {text}", ToolCall("c1", "read_file", f'{{"path": "{text}"}}')), step("Done.")
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Speak") == "end_turn"
        assert ShownSession(editor, session).text.startswith("Odd: ")
        live = plain_history(scene.provider.requests[1])
    async with scene.editor() as editor:
        scene.provider.plays(step("Still."))
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session)
    assert plain_history(scene.provider.requests[2])[: len(live)] == live


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\x7fELF\x02\x01\x01\0\0\0", "ELF"), (b"a\0b", "binary"), (b"caf\xe9\n", "caf\u00e9"), (b"", "empty")],
    ids=["binary", "with NUL", "not UTF-8", "empty"],
)
async def test_files_that_are_not_plain_text_are_reported_as_what_they_are(
    scene: Scene, content: bytes, words: str
) -> None:
    (scene.project / "odd").write_bytes(content)
    scene.provider.plays(step(call("read_file", "c1", path="odd")), step("I see."))
    async with scene.editor(fs={"readTextFile": True}) as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
    assert words in plain_history(scene.provider.requests[1])[-1]


async def test_a_file_name_that_is_not_utf_8_breaks_nothing(scene: Scene) -> None:
    (scene.project / "caf\udce9").write_text("x")
    scene.provider.plays(step(call("list_files", "c1")), step("I see."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert ShownSession(editor, session).cards["c1"]["status"] == "completed"


async def test_the_model_sees_a_repaired_call_as_it_was_understood(scene: Scene) -> None:
    scene.write("a.txt", "alpha\n")
    scene.provider.plays(step(ToolCall("c1", "read_file", "{'path': 'a.txt',}")), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Read") == "end_turn"
    said = scene.provider.requests[1].messages[1]
    assert isinstance(said, AssistantMessage)
    assert said.tool_calls[0].arguments == '{"path":"a.txt"}'
