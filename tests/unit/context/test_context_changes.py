"""A change to a context file, shown as a diff of its lines."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.context.context_diffs import UNKNOWN, changed_lines, with_changed_lines
from hermes_acp.context.context_updates import CHANGED_LINES, shown_files

LINES = st.sampled_from(
    ["", " ", "a", "b", "- c", "+ d", "@@ -1,1 +1,1 @@", "```", "````", "## AGENTS.md", "x" * 90]
)
TEXTS = st.lists(LINES, min_size=1, max_size=40)
RULES = [f"{number}. A rule of this project that is worth a line of its own." for number in range(1, 81)]


def block(lines: list[str], heading: str = "## AGENTS.md") -> str:
    return "\n".join((heading, "`````", *lines, "`````"))


def with_rule(number: int, text: str) -> list[str]:
    return [*RULES[: number - 1], text, *RULES[number:]]


def test_the_changed_lines_are_reported_with_a_little_context() -> None:
    after = with_rule(20, "20. Another rule.")
    del after[29:31]
    after.append("81. And one more.")
    reported = changed_lines(block(RULES), block(after))
    assert reported is not None
    assert reported.split("\n")[:9] == [
        "## AGENTS.md",
        "```",
        "@@ -18,5 +18,5 @@",
        f" {RULES[17]}",
        f" {RULES[18]}",
        f"-{RULES[19]}",
        "+20. Another rule.",
        f" {RULES[20]}",
        f" {RULES[21]}",
    ]
    assert "@@ -28,6 +28,4 @@" in reported
    assert reported.split("\n")[-5:] == [
        "@@ -79,2 +77,3 @@",
        f" {RULES[78]}",
        f" {RULES[79]}",
        "+81. And one more.",
        "```",
    ]
    assert with_changed_lines(block(RULES), reported) == block(after)


def test_a_change_that_saves_little_or_moves_between_headings_is_reported_in_full() -> None:
    assert changed_lines(block(["Use tabs."]), block(["Use spaces."])) is None
    assert changed_lines(block(RULES), block(RULES[::-1])) is None
    after = block(with_rule(20, "20. Another rule."), "## AGENTS.md (the same as CLAUDE.md)")
    assert changed_lines(block(RULES), after) is None
    assert changed_lines(UNKNOWN, block(RULES)) is None


def test_a_change_that_does_not_fit_leaves_nothing_known() -> None:
    reported = changed_lines(block(RULES), block(with_rule(20, "20. Another rule.")))
    assert reported is not None
    assert with_changed_lines(block(RULES[1:]), reported) == UNKNOWN
    assert with_changed_lines(block(RULES, "## CLAUDE.md"), reported) == UNKNOWN
    assert with_changed_lines(UNKNOWN, reported) == UNKNOWN
    assert shown_files([f"{CHANGED_LINES}\n\n{reported}"]) == {"AGENTS.md": UNKNOWN}


@given(TEXTS, TEXTS, st.data())
def test_applying_the_reported_change_to_one_text_gives_the_other(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(RULES)))
    before = block([*RULES[:at], *old, *RULES[at:]])
    after = block([*RULES[:at], *new, *RULES[at:]])
    reported = changed_lines(before, after)
    if reported is not None:
        assert with_changed_lines(before, reported) == after
        assert shown_files([f"{CHANGED_LINES}\n\n{reported}"]) == {"AGENTS.md": UNKNOWN}
