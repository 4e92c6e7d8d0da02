"""Sandboxed commands that try to read or change what the user's rules deny, whatever program they use."""

from pathlib import Path

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.policy_rules import Rule
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxMechanism
from hermes_acp.workspaces.sandbox.path_scan import MAX_DENIED_PATHS
from tests.attacks.sandboxes import WAYS, sandboxed

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("way", WAYS)
async def test_no_command_reads_or_changes_a_denied_path(tmp_path: Path, way: SandboxMechanism) -> None:
    rules = (
        Rule("deny", path="vault/**"),
        Rule("ask", path="**/*.ledger"),
        Rule("deny", path="deep/er/plan.txt"),
        Rule("deny", path="kept.txt", access="write"),
    )
    folder = (tmp_path / "project").resolve()
    async with sandboxed(tmp_path, way, rules=rules) as box:
        for name in ("vault/a", "VAULT/b", "x/y/z/book.ledger", "deep/er/plan.txt"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("canary-bytes")
        (folder / "kept.txt").write_text("as it was")
        (folder / "link").symlink_to(folder / "deep/er/plan.txt")
        (folder / "open.txt").write_text("hello")
        reported = await box.run(
            "cat vault/a VAULT/b x/y/z/book.ledger deep/er/plan.txt link; cat open.txt kept.txt"
        )
        assert "canary-bytes" not in reported.output, reported.output
        assert "hello" in reported.output
        assert "as it was" in reported.output
        reported = await box.run(
            "mv deep/er deep/other; mv deep shallow; cat */*/plan.txt; grep -r canary . && echo found"
        )
        assert "canary" not in reported.output, reported.output
        assert "found" not in reported.output, reported.output
        await box.run(
            "echo changed > kept.txt; echo x > vault/a; echo x > vault/new; rm -rf x/y/z/book.ledger vault"
        )
        assert (folder / "kept.txt").read_text() == "as it was"
        assert (folder / "vault/a").read_text() == "canary-bytes"
        assert (folder / "deep/er/plan.txt").read_text() == "canary-bytes"
        assert (folder / "x/y/z/book.ledger").read_text() == "canary-bytes"


@pytest.mark.parametrize("way", WAYS)
async def test_a_command_whose_folders_cannot_be_searched_for_a_rule_is_not_run(
    tmp_path: Path, way: SandboxMechanism
) -> None:
    folder = (tmp_path / "project").resolve()
    async with sandboxed(tmp_path, way, rules=(Rule("deny", path="**/*.key"),)) as box:
        for number in range(MAX_DENIED_PATHS + 1):
            (folder / f"{number}.key").touch()
        with pytest.raises(WorkspaceError, match="too many files"):
            await box.run("true")
