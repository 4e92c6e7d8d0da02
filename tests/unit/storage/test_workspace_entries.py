"""Users' decisions about their workspaces, in one private file."""

import stat
from pathlib import Path

import pytest

from hermes_acp.core.ports.trust_ports import TrustedItem
from hermes_acp.storage.workspace_entries import WorkspaceEntries

ONE, TWO = TrustedItem("mcp_server", "a", "1"), TrustedItem("mcp_server", "b", "2")


@pytest.fixture
def book(tmp_path: Path) -> WorkspaceEntries[TrustedItem]:
    return WorkspaceEntries(tmp_path / "home" / "trust.json", TrustedItem)


def test_a_decision_is_read_by_a_new_process(book: WorkspaceEntries[TrustedItem]) -> None:
    book.change("/w", lambda kept: (*kept, ONE))
    book.change("/w", lambda kept: (*kept, TWO, ONE))
    book.change("/v", lambda kept: (*kept, TWO))
    again = WorkspaceEntries(book.path, TrustedItem)
    assert (again.of("/w"), again.of("/v"), again.of("/")) == ((ONE, TWO), (TWO,), ())
    again.change("/w", lambda _: ())
    assert dict(book.all()) == {"/v": (TWO,)}


def test_only_its_owner_can_read_it(book: WorkspaceEntries[TrustedItem]) -> None:
    book.change("/w", lambda _: (ONE,))
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(book.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"/w": [{"kind": 1}]}', b"\xff", b"[" * 5_000])
def test_a_damaged_file_allows_nothing_and_is_set_aside(
    book: WorkspaceEntries[TrustedItem], content: bytes
) -> None:
    book.path.parent.mkdir()
    book.path.write_bytes(content)
    assert book.of("/w") == ()
    book.change("/w", lambda kept: (*kept, ONE))
    assert book.of("/w") == (ONE,)
    assert book.path.with_suffix(".unreadable").read_bytes() == content


def test_a_link_in_its_place_is_not_followed(book: WorkspaceEntries[TrustedItem], tmp_path: Path) -> None:
    book.path.parent.mkdir()
    (tmp_path / "planted").write_text('{"/w": [{"kind": "mcp_server", "name": "a", "digest": "1"}]}')
    book.path.symlink_to(tmp_path / "planted")
    assert book.of("/w") == ()
