"""Output read in chunks: a word that was split is returned again whole."""

from hermes_acp.workspaces.command_output import MAX_WORD_CHARS, WordJoiner


def test_a_word_that_continues_is_returned_again() -> None:
    words = WordJoiner()
    assert words.join("key is ghp_abc") == "key is ghp_abc"
    assert words.join("def\nnext") == "ghp_abcdef\nnext"
    assert words.join("") == ""
    assert words.join("ly") == "nextly"


def test_a_complete_word_is_not() -> None:
    words = WordJoiner()
    for piece in ("> ", "one", " two\n", "three", "\nfour "):
        assert words.join(piece) == piece


def test_the_stored_part_of_a_word_is_limited() -> None:
    words = WordJoiner()
    words.join("x" * 10 * MAX_WORD_CHARS)
    assert len(words.join("y")) == MAX_WORD_CHARS + 1
