"""A home folder whose records should be shared but cannot be."""

from pathlib import Path

import pytest

from hermes_acp.core.errors import ConfigError
from hermes_acp.storage.session_store import SessionStore

pytestmark = pytest.mark.anyio


def refuse(_: SessionStore) -> None:
    raise ConfigError("A library cannot be imported.", hint="Install the extra `fleet`.")


async def test_records_that_cannot_be_shared_stay_on_this_machine_and_a_notice_says_so(
    tmp_path: Path,
) -> None:
    store = SessionStore(tmp_path, share=refuse)
    await store.sharing.keep()
    await store.sharing.fetch_changed()
    assert await store.page(None, None) == []
    assert store.news() == ["A library cannot be imported. Install the extra `fleet`."]
    assert store.news() == []
    await store.aclose()
