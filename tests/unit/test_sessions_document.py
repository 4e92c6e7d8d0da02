"""docs/sessions.md names the limits of a search."""

from hermes_acp.storage.search.search_index import MAX_PER_SESSION
from hermes_acp.storage.search.search_tables import OUTCOME_CHARACTERS, WORDS_CHARACTERS
from tests.architecture.sources import ROOT

SESSIONS = (ROOT / "docs" / "sessions.md").read_text(encoding="utf-8")


def test_the_limits_are_documented() -> None:
    for limit in (f"{WORDS_CHARACTERS:,}", f"{OUTCOME_CHARACTERS:,}"):
        assert limit in SESSIONS
    assert MAX_PER_SESSION == 3
    assert "At most three results per session" in " ".join(SESSIONS.split())
