"""Output that is read bit by bit: a word that is cut in two comes again whole."""

from hermes_acp.workspaces.output import LONGEST_WORD, WholeWords


def test_a_word_that_goes_on_is_given_again() -> None:
    words = WholeWords()
    assert words.join("key is ghp_abc") == "key is ghp_abc"
    assert words.join("def\nnext") == "ghp_abcdef\nnext"
    assert words.join("") == ""
    assert words.join("ly") == "nextly"


def test_a_word_that_ended_is_not() -> None:
    words = WholeWords()
    for piece in ("> ", "one", " two\n", "three", "\nfour "):
        assert words.join(piece) == piece


def test_what_is_kept_of_a_word_is_bounded() -> None:
    words = WholeWords()
    words.join("x" * 10 * LONGEST_WORD)
    assert len(words.join("y")) == LONGEST_WORD + 1
