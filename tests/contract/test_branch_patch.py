"""The patch for a card's branch, as it is shown before the result is accepted."""

from pathlib import Path

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.git.branch_patch import patch_of
from tests.contract.card_repository import CardRepository

pytestmark = pytest.mark.anyio


async def test_a_patch_has_committed_and_uncommitted_changes_and_does_not_change_the_worktree(
    tmp_path: Path,
) -> None:
    repository = CardRepository(tmp_path)
    repository.create()
    card = await repository.card("1", {"a.txt": "one\n2\nthree\n"})
    repository.git("commit", "--quiet", "-am", "Change", at=card.folder)
    Path(card.folder, "new.txt").write_text("new <b>\n")
    before = repository.git("status", "--porcelain", at=card.folder)
    variables = repository.variables
    patch = patch_of(variables, card.folder, str(repository.top), card.base, card.branch)
    assert "-two\n+2\n" in patch
    assert "+new <b>\n" in patch
    assert repository.git("status", "--porcelain", at=card.folder) == before

    await repository.remove("1")
    kept = patch_of(variables, card.folder, str(repository.top), card.base, card.branch)
    assert kept == patch
    with pytest.raises(WorkspaceError):
        patch_of(variables, card.folder, str(repository.top), card.base, "gone")
    with pytest.raises(WorkspaceError):
        patch_of(variables, card.folder, str(repository.top), "--output=x", card.branch)
