"""Folding: one normal form for many spellings, and a correct mapping back to the original."""

from hypothesis import given
from hypothesis import strategies as st

from injection_scanner.text.text_folding import fold, fold_pattern


def test_spaces_case_accents_and_emphasis_fold() -> None:
    assert fold("**Préface**\tUNE  fois\nencore").text == "preface une fois encore"


def test_blocks_are_kept_apart() -> None:
    assert fold("one\n\ntwo\n- three\n1. four").text == "one\ntwo\n- three\n1. four"


def test_look_alikes_become_latin_only_inside_latin_words() -> None:
    folded = fold("ign\u043er\u0435 \u0441\u043e\u0440\u0430")
    assert folded.text == "ignore \u0441\u043e\u0440\u0430"
    assert folded.mixed == (3, 5)


def test_patterns_are_folded_like_texts() -> None:
    assert fold_pattern(r"\S précédent\B") == r"\S precedent\B"


def test_offsets_map_back_to_the_original() -> None:
    text = "A  b\u00a0\u00a0\ufb01n **target** end"
    folded = fold(text)
    start = folded.text.index("target")
    assert text[folded.origin(start) : folded.origin(start + 6)].startswith("target")


@given(st.text(st.sampled_from("aB \n\t*-\u00e9\u0301\ufb01\u0430\uff29\u65e5")))
def test_mapped_offsets_stay_in_the_text_and_never_decrease(text: str) -> None:
    folded = fold(text)
    back = [folded.origin(offset) for offset in range(len(folded.text) + 1)]
    assert back == sorted(back)
    assert all(0 <= offset <= len(text) for offset in back)
