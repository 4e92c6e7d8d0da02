"""A search with too few results also finds sessions with some of the words, the rarest first, after full matches."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_acp.core.ports.recall_ports import RecallQuery, SearchResults
from hermes_acp.storage.search.partial_matches import OCCURRENCES, relaxed
from hermes_acp.storage.search.search_index import SearchIndex
from hermes_acp.storage.search.search_queries import parse
from tests.unit.storage.test_search import DAY_S, NOW, answered, said, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    index = SearchIndex(tmp_path, tmp_path / "sessions")
    yield index
    index.close()


async def search(index: SearchIndex, text: str, cwd: str | None = None, limit: int = 5) -> SearchResults:
    return await index.search(RecallQuery(text, cwd, limit=limit, fills_up=True))


async def sessions(index: SearchIndex, text: str, cwd: str | None = None, limit: int = 5) -> list[str]:
    return list(dict.fromkeys(hit.session_id for hit in (await search(index, text, cwd, limit)).found))


async def test_a_question_finds_sessions_that_do_not_repeat_it_verbatim(
    index: SearchIndex, tmp_path: Path
) -> None:
    write(tmp_path, "exports", said("Customer exports are encrypted with age."))
    write(tmp_path, "other", said("The customer wants a new logo."))
    found = await search(index, "What encrypts the exports of customers?")
    assert [hit.session_id for hit in found.found] == ["exports"]
    assert found.note == "The last 1 contain only some of the words."
    assert "\x02encrypt\x03ed" in found.found[0].snippet
    assert not (await index.search(RecallQuery("What encrypts the exports of customers?"))).found


async def test_sessions_with_all_words_come_first_and_are_not_repeated(
    index: SearchIndex, tmp_path: Path
) -> None:
    write(tmp_path, "some", said("The gateway was slow."), at=NOW + DAY_S)
    write(tmp_path, "all", said("The gateway has a limit."), at=NOW)
    write(tmp_path, "scattered", said("The limit?"), *answered("It is of the gateway."), at=NOW - DAY_S)
    assert await sessions(index, "gateway limit") == ["all", "scattered", "some"]
    assert await sessions(index, "gateway limit", limit=1) == ["all"]
    full = await index.search(RecallQuery("gateway limit"))
    assert {hit.session_id for hit in full.found} == {"all", "scattered"}


async def test_rare_words_count_more_and_function_words_not_at_all(
    index: SearchIndex, tmp_path: Path
) -> None:
    for number in range(8):
        write(tmp_path, f"build{number}", said("Why does the build fail?"), at=NOW + number)
    write(tmp_path, "larch", said("A tenant called larch."))
    assert await sessions(index, "why does the build of larch fail in the evening") == [
        "larch",
        *[f"build{number}" for number in range(7, 3, -1)],
    ]
    assert await sessions(index, "which was that") == []
    assert [term.text for (term,) in relaxed(parse("What is the updated queue's policy")).groups] == [
        "updat",
        "queue's",
        "polic",
    ]


async def test_one_common_word_among_many_is_not_enough(index: SearchIndex, tmp_path: Path) -> None:
    write(tmp_path, "talk", said("The talk for the meetup in Lisbon has three parts."))
    for number in range(5):
        write(tmp_path, f"part{number}", said("Move this part to its own file."), at=NOW + 1 + number)
    assert await sessions(index, "parts of my Lisbon meetup slides") == ["talk"]


async def test_very_common_words_are_looked_for_in_good_candidates(
    index: SearchIndex, tmp_path: Path
) -> None:
    write(tmp_path, "both", said("The server rowan needs a disk."), at=NOW - DAY_S)
    write(tmp_path, "one", said("A tree: rowan."), at=NOW - DAY_S / 2)
    write(tmp_path, "many", *(said(f"The server says {number}.") for number in range(OCCURRENCES + 1)))
    assert (await sessions(index, "server rowan failure"))[0] == "both"


async def test_folders_dates_and_the_current_session_are_respected(
    index: SearchIndex, tmp_path: Path
) -> None:
    write(tmp_path, "here", said("Tokens expire early."), cwd="/here")
    write(tmp_path, "there", said("Tokens expire late."), cwd="/there")
    assert await sessions(index, "tokens refresh", cwd="/here") == ["here"]
    left_out = await index.search(RecallQuery("tokens refresh", None, "there", fills_up=True))
    assert [hit.session_id for hit in left_out.found] == ["here"]
    early = RecallQuery("tokens refresh", fills_up=True, until=NOW - DAY_S)
    assert not (await index.search(early)).found


async def test_phrases_and_prefixes_are_taken_literally(index: SearchIndex, tmp_path: Path) -> None:
    write(tmp_path, "apart", said("The ledger holds a book of entries."))
    assert await sessions(index, '"ledger book" missing') == []
    assert await sessions(index, "ledg* missing") == ["apart"]
