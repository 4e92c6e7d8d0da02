"""Edits whose old text is nearly right are located only if the position is unambiguous, and applied in the file's
style.
"""

import time

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.tools.editing.replacements import Replacement, replace
from hermes_acp.tools.editing.text_similarity import MAX_TEXT_CHARS

INDENTED = "class A:\n\tdef f(self):\n\t\treturn 1\n\n\tdef g(self):\n\t\treturn 2\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "after", "note"),
    [
        ("say \u201chi\u201d\n", 'say "hi"', 'say "ho"', 'say "ho"\n', "quotes"),
        ("a\u00a0\u2013 b\n", "a - b", "a + b", "a + b\n", "quotes"),
        ("one  \ntwo\t\nthree\n", "one\ntwo\n", "1\n2\n", "1\n2\nthree\n", "line ends"),
        (
            "if x:\n        go()\n",
            "if x:\n    go()\n",
            "if x:\n    stop()\n",
            "if x:\n        stop()\n",
            "indentation",
        ),
        (
            INDENTED,
            "    def f(self):\n        return 1\n",
            "    def f(self):\n        if x:\n            return 3\n",
            INDENTED.replace("\t\treturn 1\n", "\t\tif x:\n\t\t\treturn 3\n"),
            "indentation",
        ),
        ("    a\n    b\n", "a\nb", "a\nc", "    a\n    c\n", "indentation"),
        ("  a\n  b", "    a\n    b\n", "    c\n", "  c\n", "indentation"),
    ],
)
def test_text_that_differs_in_spaces_or_similar_characters_is_found(
    text: str, old: str, new: str, after: str, note: str
) -> None:
    done = replace(text, Replacement(old, new), "\n")
    assert done.text == after
    assert note in done.note
    windows = replace(text.replace("\n", "\r\n"), Replacement(old, new), "\r\n")
    assert windows.text == after.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("  a\nx\n  a\n", "\ta\n"),
        ("\u201ca\u201d \u00aba\u00bb", '"a"'),
        ("a \nb\na\t\nb\n", "a\nb\n"),
    ],
)
def test_an_ambiguous_match_is_rejected(text: str, old: str) -> None:
    with pytest.raises(WorkspaceError, match="more than once"):
        replace(text, Replacement(old, "x"), "\n")


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("a\n  b\n  c\n", "a\nb\n  c\n"),  # The same indentation would have two meanings.
        ("a b\n", "ab\n"),
        ("a\n", "\n \n"),
        ("word\n", "wor"[::-1]),
    ],
)
def test_text_that_differs_in_more_is_not_found(text: str, old: str) -> None:
    if old in text:
        pytest.skip("verbatim")
    with pytest.raises(WorkspaceError, match="is not in the file"):
        replace(text, Replacement(old, "x"), "\n")


def test_every_occurrence_is_matched_verbatim() -> None:
    with pytest.raises(WorkspaceError):
        replace("say \u201chi\u201d\n", Replacement('"hi"', "x", every=True), "\n")


def test_large_texts_are_searched_verbatim_only() -> None:
    text = "x  \n" * (MAX_TEXT_CHARS // 4 + 1)
    with pytest.raises(WorkspaceError) as caught:
        replace(text, Replacement("y\nz", "a"), "\n")
    assert "too big" in caught.value.sentence()


def test_repetition_costs_no_more_than_length() -> None:
    """The limit is so generous that only a higher complexity exceeds it."""
    text = "    value = 1\n" * (MAX_TEXT_CHARS // 14)
    begun = time.process_time()
    for old in ("value = 1\n" * 300 + "value = 2\n", "\tvalue = 1\n" * 300 + "other\n", "a" * 1000):
        with pytest.raises(WorkspaceError):
            replace(text, Replacement(old, "x"), "\n")
    assert time.process_time() - begun < 30
