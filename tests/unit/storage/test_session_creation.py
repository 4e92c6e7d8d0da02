"""Creating a session; a failure leaves nothing behind."""

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_acp.core.errors import StorageError
from hermes_acp.sessions.session_creation import SessionCreator
from hermes_acp.storage.session_store import SessionStore
from tests.conversations.app_scene import SequentialIds
from tests.unit.agent.turns import ManualClock


@contextmanager
def files_of_at_most(size_bytes: int) -> Generator[None]:
    """Limit the size of files that this process writes within the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_session_that_cannot_be_written_is_neither_started_nor_listed(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    founder = SessionCreator(store, ManualClock(), SequentialIds())
    with files_of_at_most(10), pytest.raises(StorageError) as raised:
        founder.begin(str(tmp_path), ())
    store.close()
    assert isinstance(raised.value.__cause__, StorageError)
    assert "Could not begin the session record" in raised.value.message
    assert "can be read but not continued" not in raised.value.sentence()
    assert list((tmp_path / "home" / "sessions").iterdir()) == []
