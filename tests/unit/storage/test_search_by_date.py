"""A search limited to a time span, with words and without; records without times use their session's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_acp.core.events import CallEnded, CallProposed, StepEnded, TextSaid, TitleChanged
from hermes_acp.core.ports.recall_ports import RecallQuery
from hermes_acp.storage.search.passage_index import PassageIndex
from hermes_acp.storage.search.search_index import SearchIndex
from hermes_acp.storage.search.search_window import SearchWindow
from tests.unit.storage.index_formats import SEARCH_FORMATS, write_format
from tests.unit.storage.timed_records import said, write_timed, write_untimed

pytestmark = pytest.mark.anyio
DAY_S = 86_400.0
MONDAY = 1_700_000_000.0
TUESDAY, WEDNESDAY = MONDAY + DAY_S, MONDAY + 2 * DAY_S


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    index = SearchIndex(tmp_path, tmp_path / "sessions")
    yield index
    index.close()


async def found(index: SearchIndex, text: str, since: float | None, until: float | None) -> list[str]:
    hits = (await index.search(RecallQuery(text, since=since, until=until))).found
    return [f"{hit.session_id} #{hit.position} {hit.snippet}" for hit in hits]


def long_session(home: Path) -> None:
    """Write a session that was used on three days."""
    events = [
        (said("boil the kettle"), MONDAY),
        (TextSaid("a", "The kettle boils."), MONDAY + 5),
        (StepEnded("a"), MONDAY + 6),
        (said("clean the kettle"), TUESDAY),
        (CallProposed("c", "grep", "Search", "search"), TUESDAY + 1),
        (CallEnded("c", "grep", "completed", "kettle.py"), TUESDAY + 2),
        (said("sell the kettle"), WEDNESDAY),
        (TitleChanged("Kettles"), WEDNESDAY + 1),
    ]
    write_timed(home, "ses_long", events)


async def test_only_text_within_the_time_span_is_found(index: SearchIndex, tmp_path: Path) -> None:
    long_session(tmp_path)
    write_timed(tmp_path, "ses_late", [(said("another kettle"), WEDNESDAY + 60)])
    assert await found(index, "kettle", TUESDAY, WEDNESDAY) == [
        "ses_long #4 Search \x02kettle\x03.py",
        "ses_long #3 clean the \x02kettle\x03",
    ]
    assert await found(index, "clean kettle", None, TUESDAY) == []
    assert await found(index, "clean kettle", TUESDAY, None) == [
        "ses_long #3 \x02clean\x03 the \x02kettle\x03"
    ]
    assert await found(index, "kettle", WEDNESDAY + DAY_S, None) == []
    (hit,) = (await index.search(RecallQuery("boil", since=MONDAY, until=TUESDAY))).found
    assert hit.at == MONDAY


async def test_dates_without_words_list_prompts_newest_first(index: SearchIndex, tmp_path: Path) -> None:
    long_session(tmp_path)
    night = [(said("run the tests all night"), MONDAY), (TextSaid("a", "One failed."), TUESDAY + 9)]
    write_timed(tmp_path, "ses_night", [*night, (TextSaid("a", " Mended."), TUESDAY + 10)])
    assert await found(index, "", TUESDAY, WEDNESDAY) == [
        "ses_night #2 One failed. Mended.",
        "ses_long #3 clean the kettle",
    ]
    assert len(await found(index, "", MONDAY, None)) == 4
    assert await found(index, " ", MONDAY - DAY_S, MONDAY) == []
    here = RecallQuery("", "/elsewhere", since=MONDAY)
    assert (await index.search(here)).found == ()
    without = RecallQuery("", excluded="ses_long", since=TUESDAY)
    assert [hit.session_id for hit in (await index.search(without)).found] == ["ses_night"]


async def test_a_record_without_times_counts_as_written_while_its_session_was_used(
    index: SearchIndex, tmp_path: Path
) -> None:
    write_untimed(tmp_path, "ses_old", [said("an old kettle")], MONDAY, TUESDAY)
    assert await found(index, "kettle", MONDAY + 5, MONDAY + 6) == ["ses_old #1 an old \x02kettle\x03"]
    assert await found(index, "", TUESDAY, WEDNESDAY) == ["ses_old #1 an old kettle"]
    assert await found(index, "kettle", TUESDAY + 1, None) == []
    assert await found(index, "kettle", None, MONDAY) == []
    (hit,) = (await index.search(RecallQuery("kettle"))).found
    assert (hit.at, hit.updated_at) == (None, TUESDAY)


async def test_passages_with_a_similar_meaning_are_limited_too(index: SearchIndex, tmp_path: Path) -> None:
    long_session(tmp_path)
    await index.catch_up()
    places = [("ses_long", 1), ("ses_long", 3)]
    window = SearchWindow(TUESDAY, WEDNESDAY)
    assert [*await PassageIndex(index).finds(places, window)] == [("ses_long", 3)]
    assert len(await PassageIndex(index).finds(places)) == 2


@pytest.mark.parametrize("version", SEARCH_FORMATS)
async def test_an_index_in_an_earlier_format_is_rebuilt_from_the_records(
    tmp_path: Path, version: int
) -> None:
    long_session(tmp_path)
    write_format(tmp_path / "search.db", SEARCH_FORMATS, version)
    index = SearchIndex(tmp_path, tmp_path / "sessions")
    assert await found(index, "kettle", WEDNESDAY, None) == ["ses_long #5 sell the \x02kettle\x03"]
    assert [hit.session_id for hit in (await index.search(RecallQuery("kettle"))).found] == ["ses_long"] * 3
    index.close()
