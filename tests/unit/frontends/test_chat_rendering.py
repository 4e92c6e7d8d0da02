"""Rendering of the chat: blocks, cards, diffs, and no terminal control sequences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus
from hermes_acp.frontends.chat.agent.shown_updates import ShownUpdates
from hermes_acp.frontends.chat.chat_process import terminal_style_of
from hermes_acp.frontends.chat.rendering.diff_rendering import hunks_of, render_diff, render_hunk
from hermes_acp.frontends.chat.rendering.markdown_stream import LineStream, MarkdownStream
from hermes_acp.frontends.chat.rendering.terminal_text import output_text, sanitize, sanitize_line
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle
from hermes_protocol import v1
from tests.unit.frontends.chat_tools import CWD, PLAIN, layout, renderer, session_renderer

MARKDOWN = "# T\n\nOne\ntwo.\n\n- a\n\n  more\n- b\n\n```py\nx\n\ny\n```\n\nEnd."
BLOCKS = ["# T", "One\ntwo.", "- a\n\n  more\n- b", "```py\nx\n\ny\n```", "End."]


def said(text: str, message_id: str = "m") -> v1.AgentMessageChunk:
    return v1.AgentMessageChunk(content=v1.TextContent(text=text), message_id=message_id)


def call(status: v1.ToolCallStatus, text: str = "", kind: v1.ToolKind = "execute") -> v1.ToolCall:
    content: list[v1.ToolCallContent] = [v1.Content(content=v1.TextContent(text=text))] if text else []
    return v1.ToolCall(tool_call_id="c", title="Run it", kind=kind, status=status, content=content)


@given(st.integers(1, 7))
def test_blocks_are_the_same_however_the_text_is_split(step: int) -> None:
    flow = MarkdownStream()
    found = [
        block
        for start in range(0, len(MARKDOWN), step)
        for block in flow.feed(MARKDOWN[start : start + step])
    ]
    assert [*found, *flow.finish()] == BLOCKS
    assert flow.tail == ""


@given(
    st.lists(st.sampled_from(["a", "`", "```", "~~~", "\n", "\n\n", "# ", "- ", "  ", "1. "]), max_size=40)
)
def test_no_text_is_lost_or_repeated(pieces: list[str]) -> None:
    flow = MarkdownStream()
    found = [block for piece in pieces for block in flow.feed(piece)] + flow.finish()
    assert "".join("".join(found).split()) == "".join("".join(pieces).split())


def test_an_unfinished_block_stays_in_the_tail() -> None:
    flow = MarkdownStream()
    assert flow.feed("One\n\n```\nx\n\n") == ["One"]
    assert flow.tail == "```\nx\n\n"


def test_plain_lines_are_returned_as_written() -> None:
    lines = LineStream()
    assert lines.feed("a\n\nb\nc") == ["a\n\nb"]
    assert lines.finish() == ["c"]


@given(st.text())
def test_displayed_text_cannot_control_the_terminal(text: str) -> None:
    for shown in (sanitize(text), sanitize_line(text), output_text(text)):
        assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in shown)
        assert not set(shown) & set("\u202e\u2066\u2028")


@given(st.text(st.sampled_from("ab \n`*#>-[]()<&;x1\x1b\x07\x9b\u202e")))
def test_markdown_cannot_smuggle_control_codes(text: str) -> None:
    written = renderer().render(renderer().markdown(text))
    assert "\x1b" not in written
    assert "\x9b" not in written


def test_an_entity_is_not_decoded_into_a_control_character() -> None:
    written = renderer().render(renderer().markdown("a &#27;[31m b &#x202e; c [x](javascript:1) &#155;"))
    assert not set(written) & {"\x1b", "\u202e", "\x9b"}


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[32mok\x1b[0m", "ok"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("a\r\nb", "a\nb"),
        ("\x1b]0;t\x07", "␛]0;t␇"),
        ("```\nx\ny\n```", "x\ny"),
        ("a\tb", "a   b"),
    ],
)
def test_output_is_rendered_as_a_terminal_would_show_it(raw: str, shown: str) -> None:
    assert output_text(raw) == shown


def test_wide_characters_take_two_columns() -> None:
    lines = renderer(columns=20).render(renderer(columns=20).markdown("日本語 " * 9)).splitlines()
    assert all(len(line) <= 11 for line in lines)
    assert "".join(lines).replace(" ", "") == "日本語" * 9


def test_text_is_rendered_and_the_source_is_kept_without_colours() -> None:
    presenter = session_renderer(layout())
    assert presenter.take(said("**a")) == ""
    assert presenter.live(5, 60) != ""
    assert presenter.take(said("b**\n\nc")) == "ab\n"
    assert presenter.end_turn() == "\nc\n"
    plain = session_renderer(layout(PLAIN))
    assert plain.take(said("**ab**\n\nc")) + plain.end_turn() == "**ab**\n\nc\n"


def test_a_thought_is_collapsed_and_kept() -> None:
    presenter = session_renderer(layout())
    presenter.take(v1.AgentThoughtChunk(content=v1.TextContent(text="a\nb\nc\nd")))
    assert "∴ d" in presenter.live(5, 60)
    folded = presenter.take(said("x"))
    assert folded.splitlines() == ["∴ a", "  b", "  … 2 more lines: /thoughts"]
    assert presenter.last_thought == "a\nb\nc\nd"


def test_a_card_is_updated_while_it_runs_and_then_shows_the_end_of_its_output() -> None:
    presenter = session_renderer(layout())
    assert presenter.take(call("in_progress", "line 1\nline 2")) == ""
    assert "│ line 2" in presenter.live(5, 60)
    over = presenter.take(call("completed", "\n".join(f"line {n}" for n in range(9))))
    assert over.splitlines()[:3] == ["✓ Run it  execute", "  │ … 3 more lines above", "  │ line 3"]
    assert presenter.live(5, 60) == ""


def test_a_call_left_open_is_closed_with_the_turn() -> None:
    presenter = session_renderer(layout())
    presenter.take(call("in_progress"))
    assert presenter.end_turn() == "✗ Run it  execute\n"


def test_a_lookup_is_one_line() -> None:
    assert session_renderer(layout()).take(call("completed", "much\ntext", "read")) == "✓ Run it  read\n"


def test_line_numbers_continue_after_an_insertion() -> None:
    diff = v1.Diff(path=f"{CWD}/a", old_text="1\n2\n3\n", new_text="1\nnew\n2\n3\n")
    lines = ["    1   1", "    2 + new", "    3   2", "    4   3"]
    assert render_diff(diff, CWD).plain.splitlines()[1:] == lines
    assert render_hunk(diff, hunks_of(diff)[0]).plain.splitlines() == lines


def test_a_diff_is_drawn_as_hunks() -> None:
    before = "\n".join(str(n) for n in range(1, 31))
    after = before.replace("\n3\n", "\nthree\n").replace("\n25\n", "\n25\nmore\n")
    text = render_diff(v1.Diff(path=f"{CWD}/a.py", old_text=before, new_text=after), CWD).plain
    assert text.splitlines()[0] == "a.py  +2 -1"
    assert "    3 - 3\n    3 + three\n" in text
    assert "   26 + more" in text
    assert "⋮" in text
    assert "15" not in text


def test_no_line_is_drawn_after_the_last_line_end() -> None:
    diff = v1.Diff(path=f"{CWD}/a.py", old_text="one\ntwo\n", new_text="ONE\ntwo\n")
    assert render_diff(diff, CWD).plain.splitlines()[-1] == "    2   two"
    assert render_hunk(diff, hunks_of(diff)[0]).plain.splitlines()[-1] == "    2   two"


def test_new_and_long_files_are_marked_as_such() -> None:
    text = render_diff(v1.Diff(path="/elsewhere/b", new_text="x\n" * 99), CWD, most=10).plain
    assert text.startswith("/elsewhere/b (new)  +99 -0")
    assert "more lines" in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("variables", "is_terminal", "style"),
    [
        ({"TERM": "xterm-256color"}, True, TerminalStyle("256", is_plain=False)),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, True, TerminalStyle("truecolor", is_plain=False)),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, True, TerminalStyle("attributes", is_plain=False)),
        ({"TERM": "dumb"}, True, PLAIN),
        ({}, True, PLAIN),
        ({"TERM": "xterm-256color"}, False, PLAIN),
    ],
)
def test_the_terminals_capabilities_are_detected(
    variables: dict[str, str], is_terminal: bool, style: TerminalStyle
) -> None:
    assert terminal_style_of(variables, is_terminal=is_terminal) == style


def test_the_status_line_shows_available_values() -> None:
    session_status = SessionStatus()
    model = v1.SessionConfigOptionSelect(id="model", name="Model", current_value="big", options=[])
    session_status.take(v1.ConfigOptionUpdate(config_options=[model]))
    session_status.take(v1.UsageUpdate(used=50_000, size=200_000, cost=v1.Cost(amount=0.126, currency="USD")))
    session_status.take(v1.SessionInfoUpdate(title="A \x1b[2J title"))
    assert session_status.line(80) == "big · context 25% of 200k · $0.13 · A ␛[2J title"
    assert len(session_status.line(20)) == 19


def test_already_shown_text_is_not_shown_again() -> None:
    seen = ShownUpdates()
    for update in (said("Half"), call("completed")):
        seen.note(update)
    seen.begin_replay()
    again = [
        seen.fresh(update) for update in (said("Ha"), said("lf of it"), said("new", "n"), call("completed"))
    ]
    assert again == [None, said(" of it"), said("new", "n"), None]
    assert seen.fresh(v1.UserMessageChunk(content=v1.TextContent(text="hi"))) is None
    assert seen.replayed_prompts == ["hi"]


def test_a_long_line_is_shown_in_part() -> None:
    shown = layout().prompt("x" * 20_000)
    assert shown.count("x") == 2_000
    assert "18,000 more characters" in shown.replace("\n", " ")


def test_the_remainder_of_a_long_line_is_below_its_words() -> None:
    words = " ".join(f"word{number:02}" for number in range(20))
    shown = renderer(columns=40).render(Text(f"· {words}\n  │ {words}\n  short"))
    remark, output = shown.split("  │ ", 1)
    assert remark.startswith("· word00")
    assert all(line.startswith("  word") for line in remark.splitlines()[1:])
    assert all(line.startswith("  │ word") for line in f"  │ {output}".splitlines()[:-1])
    assert output.endswith("\n  short\n")
    assert " ".join(shown.replace("·", "").replace("│", "").split()) == f"{words} {words} short"
