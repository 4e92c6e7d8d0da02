"""Search queries: anything that people type is valid."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.errors import BadRequest
from hermes_acp.storage.search.search_queries import (
    CLOSE,
    MAX_TERMS,
    OPEN,
    WORD_SEPARATOR,
    fold,
    parse,
    separate_words,
    snippet,
)

TEXTS = (
    "The login handler fails",
    "def login_handler(): pass",
    "Handler of the Café",
    "設定を日本語で検索する",
    "configure, configuration, conf",
    'He said "stop" AND left',
)


@pytest.fixture(scope="module")
def words() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE w USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')"
        )
        connection.executemany("INSERT INTO w VALUES (?)", [(separate_words(text),) for text in TEXTS])
        yield connection


def found(words: sqlite3.Connection, typed: str) -> list[int]:
    rows = words.execute(
        "SELECT rowid - 1 FROM w WHERE w MATCH ? ORDER BY rowid", (parse(typed).expression(),)
    )
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("handler", [0, 1, 2]),
        ("handler login", [0, 1]),
        ("handler AND login", [0, 1]),
        ('"the login"', [0]),
        ('"login the"', []),
        ("login_handler", [0, 1]),
        ("LOGIN", [0, 1]),
        ("cafe", [2]),
        ("café", [2]),
        ("conf", [4]),
        ("conf*", [4]),
        ("log*", [0, 1]),
        ('"the log"*', [0]),
        ("cafe OR configuration", [2, 4]),
        ("handler cafe OR fails", [0, 2]),
        ("OR cafe", [2]),
        ("日本", [3]),
        ("検索する", [3]),
        ("本日", []),
        ("text:login", []),
        ("NEAR(login handler)", []),
        ("login - handler", [0, 1]),
        ('"stop" and', [5]),
        ("unknown", []),
    ],
)
def test_queries_find_what_they_say(words: sqlite3.Connection, typed: str, expected: list[int]) -> None:
    assert found(words, typed) == expected


@given(st.text(max_size=60) | st.text(alphabet='"*()^-+:{}ab \0OR', max_size=30))
def test_no_input_is_a_syntax_error(typed: str) -> None:
    try:
        query = parse(typed)
    except BadRequest:
        assert not set(typed.replace("OR", "")) & set("abORxyz")
        return
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE w USING fts5(text, place)")
        connection.execute("SELECT * FROM w WHERE w MATCH ?", (f"text : ({query.expression()})",)).fetchall()
    query.pattern()


@pytest.mark.parametrize("typed", ["", "   ", '""', "***", "( ) - :", "\x00", "OR"])
def test_a_query_without_a_word_is_rejected(typed: str) -> None:
    with pytest.raises(BadRequest, match="no word"):
        parse(typed)


def test_an_endless_query_is_cut() -> None:
    assert len(parse("word " * 1000).groups) == MAX_TERMS


def shown(text: str, typed: str) -> str:
    return snippet(text, parse(typed)).replace(OPEN, "<").replace(CLOSE, ">")


def test_snippets_show_the_match() -> None:
    assert shown("def login_handler():\n    pass", "login_handler pass") == "def <login_handler>(): <pass>"
    assert shown("Au Café, cafes", "cafe") == "Au <Café>, cafes"
    assert shown("Au Café, cafes", "caf*") == "Au <Caf>é, <caf>es"
    assert shown(separate_words("設定を日本語で検索"), "日本語") == "設定を<日本語>で検索"
    assert shown("nothing of it", "elsewhere") == "nothing of it"


def test_snippets_show_the_part_with_most_matches() -> None:
    text = f"alpha {'x ' * 500}and then alpha beta gamma {'y ' * 500}beta"
    cut = shown(text, "alpha beta gamma")
    assert "<alpha> <beta> <gamma>" in cut
    assert cut.startswith("…x x")
    assert cut.endswith("…")
    assert len(cut) < 300


@given(st.text(max_size=200), st.text(alphabet="abc é設", min_size=1, max_size=8))
def test_snippets_contain_only_text_from_the_passage(text: str, typed: str) -> None:
    try:
        query = parse(typed)
    except BadRequest:
        return
    plain = snippet(text, query).replace(OPEN, "").replace(CLOSE, "").strip("…")
    whole = " ".join(text.replace(WORD_SEPARATOR, "").replace(OPEN, "").replace(CLOSE, "").split())
    assert plain in whole or text.startswith("…") or text.endswith("…")


@given(st.text(max_size=50))
def test_folding_keeps_every_position(text: str) -> None:
    assert len(fold(text)) == len(text)
