"""The full-screen chat with the real agent; textual's pilot presses the keys."""

from __future__ import annotations

import sys

import anyio
import pytest
from textual.widgets import TextArea

from tests.e2e.chat_environment import BEFORE, EDITING, REWRITING, Place
from tests.e2e.full_screen_stage import full_chat
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="the agent's sandbox is POSIX"),
]
ROWS = "".join(f"row {number}\n" for number in range(30))
RUN = ToolCall("terminal", {"command": "seq 1 30"})


def prompt_text(app: object) -> str:
    from hermes_acp.frontends.chat.full_screen.chat_app import ChatApp

    assert isinstance(app, ChatApp)
    return app.query_one("#prompt", TextArea).text


async def test_an_answer_streams_and_a_thought_expands(place: Place) -> None:
    go = anyio.Event()
    reply = Reply(
        text=("# Plan\n\nIt is **bo", "ld**.\n\nTh", "e end."),
        thinking="First I look.\nThen I think.\nThen more.",
        holds=(Hold(go, after=2),),
    )
    async with serve([reply]) as server, full_chat(place, server) as stage:
        await stage.say("tell me\r")
        await stage.see("It is **bo")
        assert "The end." not in stage.text()
        go.set()
        await stage.see("The end.")
        assert "It is bold." in stage.text()
        assert "Then more." not in stage.text()
        await stage.press("ctrl+o")
        await stage.see("Then more.")
        await stage.press("ctrl+o")
        await stage.until(lambda: "Then more." not in stage.text(), "folded again")


async def test_typed_text_never_answers_a_question(place: Place) -> None:
    async with serve([*EDITING, Reply("To your letters.")]) as server, full_chat(place, server) as stage:
        await stage.say("change it\r")
        await stage.asked()
        await stage.press("y", "space", "1", "space", "n")
        assert prompt_text(stage.app) == "y 1 n"
        await stage.press("enter")
        await stage.see("y 1 n  (queued)")
        assert "F2" in stage.label("status")
        assert stage.chat.is_asking
        assert (place.project / "a.txt").read_text() == BEFORE
        await stage.press("f7", "tab", "y")
        assert stage.chat.is_asking
        await stage.press("f2", "y")
        await stage.see("→ Allow once")
        await stage.see("To your letters.")
    assert (place.project / "a.txt").read_text().startswith("ONE\n")


@pytest.mark.slow
async def test_a_question_shows_the_whole_text_and_a_rejection_its_reason(place: Place) -> None:
    long = "\n".join(f"echo line {number}" for number in range(120))
    replies = (
        Reply(tool_calls=(ToolCall("terminal", {"command": f"{long}\nrm -rf x"}),)),
        Reply("All done."),
    )
    async with serve(replies) as server, full_chat(place, server) as stage:
        await stage.say("run it\r")
        await stage.asked()
        shown = stage.text("question-body")
        assert all(f"echo line {number}" in shown for number in range(120))
        await stage.press("f2", "c")
        await stage.say("not today\r")
        await stage.see("Rejected: not today")
        await stage.see("All done.")
        assert "not today" in str(server.requests[-1].body)


@pytest.mark.slow
async def test_a_call_that_deletes_is_marked_with_its_reason(place: Place) -> None:
    (place.project / "build").mkdir()
    remove = ToolCall("terminal", {"command": "rm -rf build"})
    replies = [Reply(tool_calls=(remove,)), Reply("All done.")]
    async with serve(replies) as server, full_chat(place, server) as stage:
        await stage.say("clean up\r")
        await stage.asked()
        assert stage.app.query_one("#question").has_class("-warning")
        assert "⚠" in stage.choices
        assert "delete" in stage.choices
        await stage.press("f2", "n")
        await stage.see("All done.")
    assert (place.project / "build").is_dir()


@pytest.mark.slow
async def test_hunks_of_a_proposal_are_selected_in_the_pane(place: Place) -> None:
    async with serve(REWRITING) as server, full_chat(place, server) as stage:
        await stage.say("change it\r")
        await stage.asked()
        await stage.press("f2", "h")
        await stage.see("+ TEN", "changes-view")
        await stage.press("s")
        assert stage.chat.is_asking
        await stage.press("n", "y", "s")
        await stage.see("Allowed in part: 1 of 2 changes")
        await stage.see("All done.")
    assert (place.project / "a.txt").read_text() == BEFORE.replace("ten", "TEN")


@pytest.mark.slow
async def test_the_changes_pane_answers_a_waiting_proposal(place: Place) -> None:
    async with serve(EDITING) as server, full_chat(place, server) as stage:
        await stage.say("change it\r")
        await stage.asked()
        await stage.press("f3")
        await stage.see("+ ONE", "changes-view")
        await stage.press("e")
        await stage.until(lambda: "EDITOR" in stage.label("status"), "which variable names the editor")
        await stage.press("escape")
        await stage.asked()
        await stage.press("f3")
        await stage.see("+ ONE", "changes-view")
        await stage.press("y", "s")
        await stage.see("All done.")
    assert (place.project / "a.txt").read_text() == BEFORE.replace("one", "ONE")


@pytest.mark.slow
async def test_edits_made_without_approval_are_reverted_in_the_pane(place: Place) -> None:
    async with serve(REWRITING) as server, full_chat(place, server, mode="accept_edits") as stage:
        await stage.until(lambda: "accept_edits" in stage.label("status"), "the mode")
        await stage.say("change it\r")
        await stage.see("1 file changed without asking")
        await stage.press("f3")
        await stage.see("+ TEN", "changes-view")
        await stage.press("n")
        await stage.until(lambda: "ONE" not in stage.text("changes-view"), "the first hunk is gone")
        assert (place.project / "a.txt").read_text() == BEFORE.replace("ten", "TEN")
        await stage.press("escape")
        assert stage.app.focused is stage.app.query_one("#prompt")


@pytest.mark.slow
async def test_sessions_are_renamed_found_and_opened(place: Place) -> None:
    replies = [Reply("The zebra is striped."), Reply("A whale is large.")]
    async with serve(replies) as server, full_chat(place, server) as stage:
        await stage.say("about zebras\r")
        await stage.see("The zebra is striped.")
        await stage.press("f4")
        await stage.see("about zebras", "sessions-view")
        await stage.press("r", "ctrl+u")
        await stage.say("Striped\r")
        await stage.see("Striped", "sessions-view")
        await stage.press("n")
        await stage.until(lambda: "Striped" not in stage.label("status"), "a new session")
        await stage.say("about whales\r")
        await stage.see("A whale is large.")
        await stage.press("f4")
        await stage.see("about whales", "sessions-view")
        await stage.press("slash")
        await stage.say("zebra\r")
        await stage.until(lambda: "whales" not in stage.text("sessions-view"), "only what was found")
        await stage.press("enter")
        await stage.see("Resumed session: Striped")


@pytest.mark.slow
async def test_running_calls_are_listed_and_stopped(place: Place) -> None:
    never = anyio.Event()
    replies = [Reply(text=("Begun", " and never ended"), holds=(Hold(never, after=1),))]
    async with serve(replies) as server, full_chat(place, server) as stage:
        await stage.press("f5")
        await stage.see("Nothing is running.", "activity-view")
        await stage.press("escape")
        await stage.say("go\r")
        await stage.see("Begun")
        await stage.say("and this\r")
        await stage.press("f5")
        await stage.see("The model is working.", "activity-view")
        await stage.see("and this", "activity-view")
        await stage.press("escape")
        await stage.press("escape")
        await stage.see("Stopped.")


@pytest.mark.slow
async def test_shift_tab_switches_the_mode(place: Place) -> None:
    async with serve([]) as server, full_chat(place, server) as stage:
        assert "ask" in stage.label("status")
        await stage.press("shift+tab")
        await stage.until(lambda: " ask" not in stage.label("status"), "another mode")


@pytest.mark.slow
async def test_commands_and_files_are_completed(place: Place) -> None:
    async with serve([]) as server, full_chat(place, server) as stage:
        await stage.say("/eff")
        await stage.until(lambda: "/effort" in stage.label("completions"), "the command")
        await stage.press("tab")
        assert prompt_text(stage.app) == "/effort "
        await stage.press("ctrl+c")
        await stage.say("see @a")
        await stage.until(lambda: "@a.txt" in stage.label("completions"), "the file")
        await stage.press("tab")
        assert prompt_text(stage.app) == "see @a.txt "
        await stage.press("ctrl+c", "f1")
        await stage.see("Shift+Tab", "keys-view")


@pytest.mark.slow
async def test_a_long_pasted_text_is_a_placeholder_and_its_mentions_are_not_read(place: Place) -> None:
    async with serve([Reply("Read.")]) as server, full_chat(place, server) as stage:
        await stage.say("see:\n" + "a line with @a.txt\n" * 12)
        assert prompt_text(stage.app) == "[13 lines pasted]"
        await stage.press("enter")
        await stage.see("Read.")
        sent = str(server.requests[-1].body)
        assert "a line with @a.txt" in sent
        assert "seven\\neight" not in sent


HOSTILE = (
    "[red]not red[/red] [@click=app.exit]leave[/] [link=http://evil.example]x[/link] "
    "\x1b[2J\x1b[H\x1b]52;c;ZXZpbA==\x07\x1b[31mfake\x1b[0m \u202etxet \x9b31m end"
)


@pytest.mark.slow
async def test_hostile_output_stays_text(place: Place) -> None:
    (place.project / "evil.txt").write_text(HOSTILE)
    title = ToolCall("read_file", {"path": "[red]x[/red]\x1b[2J.txt"})
    calls = (ToolCall("terminal", {"command": f"echo '[bold]cmd[/bold]'; rm '{HOSTILE[:40]}'"}), title)
    replies = [Reply(HOSTILE, tool_calls=calls), Reply("All done.")]
    async with serve(replies) as server, full_chat(place, server) as stage:
        await stage.say("go\r")
        await stage.asked()
        assert "[bold]cmd[/bold]" in stage.text("question-body")
        await stage.press("f5")
        await stage.press("escape")
        await stage.press("f2", "n")
        await stage.see("All done.")
        shown = stage.text()
        assert "[red]not red[/red] [@click=app.exit]leave[/]" in shown
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(shown + stage.label("status"))


@pytest.mark.slow
async def test_a_small_terminal_shows_the_question_and_its_choices(place: Place) -> None:
    async with serve(REWRITING) as server, full_chat(place, server, size=(60, 15)) as stage:
        await stage.say("change it\r")
        await stage.asked()
        names = ("question-body", "question-choices", "prompt", "status")
        regions = [stage.app.query_one(f"#{name}") for name in names]
        await stage.until(
            lambda: all(each.region.height >= 1 and each.region.bottom <= 15 for each in regions),
            "all of them",
        )
        await stage.pilot.resize_terminal(140, 45)
        await stage.press("f2", "y")
        await stage.see("All done.")
        await stage.press("f4")
        await stage.until(lambda: stage.app.query_one("#conversation").region.width > 50, "both side by side")
        await stage.pilot.resize_terminal(60, 15)
        await stage.until(lambda: not stage.app.query_one("#conversation").region.width, "only the pane")


@pytest.mark.slow
async def test_the_hint_to_quit_disappears_with_the_next_key(place: Place) -> None:
    async with serve([]) as server, full_chat(place, server) as stage:
        await stage.press("ctrl+c")
        await stage.until(lambda: "Press Ctrl+C again" in stage.label("status"), "the hint")
        await stage.press("h")
        await stage.until(lambda: "Press Ctrl+C again" not in stage.label("status"), "no hint")
        await stage.press("ctrl+c")
        await stage.until(lambda: not prompt_text(stage.app), "an empty input")
        await stage.press("ctrl+c")
        await stage.until(lambda: "Press Ctrl+C again" in stage.label("status"), "the hint")
