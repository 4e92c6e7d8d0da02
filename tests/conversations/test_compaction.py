"""A conversation that outgrows the model's window: what is dropped, what stays, and what is visible."""

import json

import anyio
import pytest

from hermes_acp.core.errors import ContextWindowExceeded, ModelRefused, RateLimited
from hermes_acp.core.messages import AssistantMessage, UserMessage
from hermes_acp.core.record.compacted_history import TAG
from hermes_protocol.errors import INTERNAL_ERROR
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.draft_editor import Shown, drafter, idles, new_session, saying, turn
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Beat, Pause, ScriptedThought, Step, Usage, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
TAKES: Json = {"compaction": {}}
FULL = ContextWindowExceeded("The conversation no longer fits the window of scripted-1.")
LONG = "Many words. " * 600
SMALL_WINDOW = "window_tokens: 8000\n"


def filling(tokens: int, *beats: Beat) -> Step:
    """Return one answer after which the endpoint reports this many tokens in the window."""
    return Step(beats, usage=Usage(tokens, 10))


def reopening(scene: Scene, session: str) -> Json:
    return {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}


def marks(editor: FakeEditor, session: str) -> list[str]:
    """Return the compactions as an editor sees them: a status, or words of a summary."""
    found: list[str] = []
    for update in ShownSession(editor, session).updates:
        if update["sessionUpdate"] == "compaction_update":
            found.append(update["status"])
        elif update["sessionUpdate"] == "compaction_summary_chunk":
            found.append(update["content"]["text"])
    return found


def recorded(scene: Scene, session: str) -> list[Json]:
    lines = scene.record_of(session).read_bytes().splitlines()
    events = (json.loads(line[line.index(b"{") :]) for line in lines)
    return [event.get("event", event) for event in events]


async def grow(scene: Scene, editor: FakeEditor, said: str = LONG) -> str:
    """Start a session whose window is nearly full."""
    scene.provider.plays(filling(6600, said))
    session = await editor.new_session(scene.project)
    await editor.prompt(session, "First")
    return session


async def test_older_messages_are_summarised_before_the_window_is_full(scene: Scene) -> None:
    scene.configure(SMALL_WINDOW)
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(step(ScriptedThought("Hm."), "The user ", "said much."), step("Going on."))
        assert await editor.prompt(session, "Second") == "end_turn"
        assert marks(editor, session) == ["in_progress", "The user ", "said much.", "completed"]
        reported = ShownSession(editor, session)
        (done,) = [u for u in reported.of("compaction_update") if u["status"] == "completed"]
        assert done["summary"] == [{"type": "text", "text": "The user said much."}]
        before, after = [update["used"] for update in reported.of("usage_update")][:2]
        assert after < before
        assert reported.text == f"{LONG}Going on."
    first, asked, second = scene.provider.requests
    assert asked.tools == ()
    assert LONG in plain_history(asked)[0]
    summary, last = plain_history(second)
    assert f"<{TAG}>\nThe user said much.\n</{TAG}>" in summary
    assert last == "user: Second"
    assert second.system == first.system
    assert second.tools == first.tools


@pytest.mark.parametrize("counted", [7, 900])
async def test_an_endpoint_that_always_reports_the_same_count_is_not_trusted(
    scene: Scene, counted: int
) -> None:
    scene.configure("window_tokens: 34000\n")
    scene.provider.plays(*(filling(counted, LONG * 5) for _ in range(3)))
    async with scene.editor(session=TAKES) as editor:
        session = await editor.new_session(scene.project)
        for number in range(3):
            await editor.prompt(session, f"Prompt {number}")
        assert marks(editor, session) == []
        scene.provider.answer = lambda request: step("Going on." if request.tools else "A summary.")
        assert await editor.prompt(session, "Last") == "end_turn"
        assert marks(editor, session) == ["in_progress", "A summary.", "completed"]


async def test_a_client_without_compaction_support_is_told_why_there_is_a_pause(scene: Scene) -> None:
    scene.configure(SMALL_WINDOW)
    async with scene.editor(session={"notices": {}}) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(step("Much was said."), step("Going on."))
        await editor.prompt(session, "Second")
        reported = ShownSession(editor, session)
        assert marks(editor, session) == []
        assert [notice["title"] for notice in reported.of("notice")] == [
            "The conversation is long, so its older part is being summarised for the model."
        ]
        assert reported.of("usage_update")[1]["used"] < reported.of("usage_update")[0]["used"]
        assert "Much was said" not in str(reported.updates)


async def test_a_full_endpoint_is_asked_once_more_with_a_shorter_history(scene: Scene) -> None:
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(step("Half a w", FULL), step("Much was said."), step("Fits."))
        assert await editor.prompt(session, "Second") == "end_turn"
        assert marks(editor, session) == ["in_progress", "Much was said.", "completed"]
        assert plain_history(scene.provider.requests[-1])[1:] == ["user: Second"]
        assert [m for m in scene.provider.requests[-1].messages if isinstance(m, AssistantMessage)] == []


async def test_an_endpoint_that_stays_full_ends_the_turn_with_a_message(scene: Scene) -> None:
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(step(FULL), step("Much was said."), step(FULL), step("Later."))
        refusal = await editor.prompt_refusal(session, "Second")
        assert (refusal.code, refusal.data) == (INTERNAL_ERROR, {"code": "context_full"})
        assert refusal.message == FULL.message
        assert len(scene.provider.requests) == 4
        assert await editor.prompt(session, "Third") == "end_turn"
        assert plain_history(scene.provider.requests[-1])[1:] == [
            "user: Second",
            "user: [Nothing was answered to this: that turn failed.]",
            "user: Third",
        ]


async def test_a_first_prompt_that_is_too_long_is_not_summarised(scene: Scene) -> None:
    scene.provider.plays(step(FULL))
    async with scene.editor(session=TAKES) as editor:
        session = await editor.new_session(scene.project)
        refusal = await editor.prompt_refusal(session, LONG)
        assert refusal.data == {"code": "context_full"}
        assert marks(editor, session) == []


async def test_a_part_too_long_for_one_request_is_summarised_in_parts(scene: Scene) -> None:
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor, LONG + LONG[:2_000])
        scene.provider.plays(
            step(FULL), step("Half a s", FULL), step("One."), step("One and two."), step("Fits.")
        )
        assert await editor.prompt(session, "Second") == "end_turn"
        assert marks(editor, session) == [
            *("in_progress", "Half a s"),
            *("in_progress", "One and two.", "completed"),
        ]
        (cleared, _) = [u for u in ShownSession(editor, session).of("compaction_update") if "summary" in u]
        assert cleared["summary"] is None
    pieces = [plain_history(request)[0] for request in scene.provider.requests[3:5]]
    assert all(len(piece) < len(LONG) + 1_500 for piece in pieces)
    assert "One." not in pieces[0]
    assert "One." in pieces[1]


async def test_large_old_outputs_are_cut_first_without_a_request_to_the_model(scene: Scene) -> None:
    scene.configure("window_tokens: 12000\n")
    scene.write("big.txt", "line\n" * 6_000)
    reads = [call("read_file", f"c{number}", path="big.txt", limit=2_000) for number in (1, 2)]
    scene.provider.plays(step(reads[0]), filling(9_900, LONG), step("Short now."))
    async with scene.editor(session=TAKES) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "Read")
        await editor.prompt(session, "Second")
        assert marks(editor, session) == ["in_progress", "completed"]
    user, answer, outcome, *_ = scene.provider.requests[-1].messages
    assert isinstance(user, UserMessage)
    assert isinstance(answer, AssistantMessage)
    assert "characters were left out here" in str(outcome)
    assert len(str(outcome)) < 1_000
    assert len(scene.provider.requests) == 3


async def test_the_whole_conversation_is_replayed_with_a_mark_at_the_compaction(scene: Scene) -> None:
    scene.configure(SMALL_WINDOW)
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(step("Much was said."), step("Going on."), step("And on."))
        await editor.prompt(session, "Second")
    lived = scene.provider.requests[-1].messages
    async with scene.editor(session=TAKES) as editor:
        await editor.call("session/load", reopening(scene, session))
        kinds = [u["sessionUpdate"] for u in ShownSession(editor, session).updates]
        words = ["user_message_chunk", "agent_message_chunk"]
        shown = [kind for kind in kinds if kind in (*words, "compaction_update", "compaction_summary_chunk")]
        assert shown == [*words, "user_message_chunk", "compaction_update", "agent_message_chunk"]
        assert ShownSession(editor, session).text == f"{LONG}Going on."
        assert marks(editor, session) == ["completed"]
        await editor.prompt(session, "Third")
        assert scene.provider.requests[-1].messages[: len(lived)] == lived
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        assert ShownSession(editor, session).text == f"{LONG}Going on.And on."
        assert marks(editor, session) == []


async def test_cancelling_a_compaction_leaves_the_history_unchanged(scene: Scene) -> None:
    scene.configure(SMALL_WINDOW)
    pause = Pause()
    left: list[bytes] = []
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(step("Half a s", pause))
        stopped: list[str] = []

        async def prompt() -> None:
            stopped.append(await editor.prompt(session, "Second"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt)
            await pause.reached.wait()
            left.append(scene.record_of(session).read_bytes())
            editor.cancel(session)
        assert stopped == ["cancelled"]
        assert marks(editor, session) == ["in_progress", "Half a s", "cancelled"]
        scene.provider.plays(step("Still all here."))
    # What a process killed at that moment would have left.
    scene.record_of(session).write_bytes(left[0])
    scene.configure("window_tokens: 128000\n")
    async with scene.editor(session=TAKES) as editor:
        await editor.call("session/load", reopening(scene, session))
        assert marks(editor, session) == ["cancelled"]
        await editor.prompt(session, "Third")
        first, answer, *_, last = plain_history(scene.provider.requests[-1])
        assert (first, answer, last) == ("user: First", f"assistant: {LONG}", "user: Third")


async def test_a_failed_summary_stops_nothing(scene: Scene) -> None:
    scene.configure(SMALL_WINDOW)
    scene.write("a", "alpha\n")
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(
            step(ModelRefused("Not this.")),
            filling(3400, call("read_file", "c1", path="a")),
            step("Went on with all of it."),
        )
        assert await editor.prompt(session, "Second") == "end_turn"
        assert marks(editor, session) == ["in_progress", "failed"]
        (failed,) = [
            u for u in ShownSession(editor, session).of("compaction_update") if u["status"] == "failed"
        ]
        assert failed["error"] == "The conversation was not shortened: Not this."
        assert plain_history(scene.provider.requests[-1])[:2] == ["user: First", f"assistant: {LONG}"]


async def test_the_tokens_of_a_summary_count_for_the_turn(scene: Scene) -> None:
    scene.configure(SMALL_WINDOW)
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor)
        scene.provider.plays(
            step(RateLimited("Slower.", retry_after_s=0.0)),
            filling(3000, "Much was said."),
            step("Going on."),
        )
        await editor.prompt(session, "Second")
    ended = [event for event in recorded(scene, session) if event["type"] == "turn_ended"][-1]
    assert (ended["steps"], ended["usage"]["input_tokens"]) == (1, 3010)
    (done,) = [event for event in recorded(scene, session) if event["type"] == "history_compacted"]
    assert done["usage"]["input_tokens"] == 3000
    assert done["tokens_after"] < done["tokens_before"]


async def test_compact_runs_manually_and_follows_its_instructions(scene: Scene) -> None:
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor, 4 * LONG)
        (menu,) = ShownSession(editor, session).of("available_commands_update")[:1]
        assert "compact" in [command["name"] for command in menu["availableCommands"]]
        scene.provider.plays(step("Much was said."), step("Going on."))
        assert await editor.prompt(session, "/compact the names") == "end_turn"
        assert marks(editor, session) == ["in_progress", "Much was said.", "completed"]
        assert "Messages summarised: 1; kept unchanged: 1." in ShownSession(editor, session).text
        assert plain_history(scene.provider.requests[1])[0].endswith("in particular: the names")
        assert await editor.prompt(session, "/compact") == "end_turn"
        assert ShownSession(editor, session).text.endswith("the conversation is already short.")
        await editor.prompt(session, "Second")
    summary, *kept = plain_history(scene.provider.requests[-1])
    assert "Much was said." in summary
    assert kept == ["user: First", "user: Second"]
    assert len(scene.provider.requests) == 3


async def test_compact_waits_for_the_running_turn(scene: Scene) -> None:
    pause = Pause()
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor, 4 * LONG)
        await editor.call(
            "session/set_config_option",
            {"sessionId": session, "configId": "during_turn", "value": "steer"},
        )
        scene.provider.plays(step("Second ", pause, "done."), step("Much was said."))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.prompt, session, "Second")
            await pause.reached.wait()
            tasks.start_soon(editor.prompt, session, "/compact")
            await editor.until(lambda: "this message comes next" in ShownSession(editor, session).thoughts)
            assert marks(editor, session) == []
            pause.go.set()
        assert marks(editor, session) == ["in_progress", "Much was said.", "completed"]
        assert [*map(len, (scene.provider.requests[1].messages, scene.provider.requests[2].messages))] == [
            3,
            1,
        ]


async def test_compact_can_be_stopped_and_later_messages_come_after_it(scene: Scene) -> None:
    pause = Pause()
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor, 4 * LONG)
        scene.provider.plays(step("Half a s", pause), step("All here."))
        reasons: list[str] = []

        async def prompt(text: str) -> None:
            reasons.append(await editor.prompt(session, text))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, "/compact")
            await pause.reached.wait()
            editor.cancel(session)
        assert reasons == ["cancelled"]
        assert marks(editor, session)[-1] == "cancelled"
        await editor.prompt(session, "Second")
        assert len(scene.provider.requests[-1].messages) == 3


async def test_a_failed_compact_is_an_error_with_a_message(scene: Scene) -> None:
    async with scene.editor(session=TAKES) as editor:
        session = await grow(scene, editor, 4 * LONG)
        scene.provider.plays(
            step(ModelRefused("Not this.")), step(" "), step("x" * 60_000), step("All here.")
        )
        refusal = await editor.prompt_refusal(session, "/compact")
        assert (refusal.message, refusal.data) == ("Not this.", {"code": "model_refused"})
        assert (await editor.prompt_refusal(session, "/compact")).message == "The model returned no summary."
        longer = await editor.prompt_refusal(session, "/compact")
        assert longer.message == "The summary was not shorter than the text it replaces."
        assert marks(editor, session).count("failed") == 3
        await editor.prompt(session, "Second")
        assert len(scene.provider.requests[-1].messages) == 3


async def test_version_2_needs_no_capability_for_compactions(scene: Scene) -> None:
    pause = Pause()
    scene.variables["HERMES_ACP_DRAFT_V2"] = "1"
    async with drafter(scene) as editor:
        session = await new_session(scene, editor)
        scene.provider.plays(filling(6600, 4 * LONG), step("Much ", pause), step("Much was said."))
        await turn(editor, session, "First")
        prompting = len(idles(editor, session))

        async def refused() -> None:
            await editor.refusal("session/prompt", saying(session, "/compact"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(refused)
            await pause.reached.wait()
            assert Shown(editor, session).states[-1] == "running"
            editor.connection.notify("session/cancel", {"sessionId": session})
        await editor.until(lambda: len(idles(editor, session)) > prompting)
        assert idles(editor, session)[-1]["stopReason"] == "cancelled"
        assert (await turn(editor, session, "/compact"))["stopReason"] == "end_turn"
        assert marks(editor, session) == [
            *("in_progress", "Much ", "cancelled"),
            *("in_progress", "Much was said.", "completed"),
        ]
        assert "Messages summarised: 1;" in Shown(editor, session).said("agent_message")[-1]
