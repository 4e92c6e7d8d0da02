"""Repositories that are partly a link to, or an include of, somebody else's file: git shows what it cannot parse."""

import subprocess
from pathlib import Path

import pytest

from tests.attacks.attack_checks import attacked_agent, result_of

pytestmark = pytest.mark.anyio

INCLUDES = (
    "[include]\npath = {0}\n",
    "[core] [Include] path={0}\n",
    '[includeIf "gitdir/i:**"]\npath = {0}\n',
)
LINKS = (
    "config", "packed-refs", "shallow", "index", "objects/info/alternates", "info/attributes", "info/exclude",
    "logs/HEAD", "HEAD",
)  # fmt: skip


def make_repository(folder: Path) -> Path:
    (folder / "a.txt").write_text("hello\n")
    for words in (["init", "-q"], ["add", "a.txt"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)
    return folder / ".git"


@pytest.mark.parametrize("include", INCLUDES)
async def test_d06_settings_that_include_another_file_reveal_nothing_of_it(
    tmp_path: Path, include: str
) -> None:
    async with attacked_agent(tmp_path) as siege:
        settings = make_repository(siege.workspace) / "config"
        assert "hello" in result_of(await siege.call("git", {"action": "show", "ref": "HEAD"}))
        settings.write_text(settings.read_text() + include.format(siege.canary))
        for action in ("status", "diff", "log"):
            assert "canary-" not in result_of(await siege.call("git", {"action": action}))


@pytest.mark.parametrize("name", LINKS)
async def test_d06_a_linked_part_of_a_repository_reveals_nothing_of_an_outside_file(
    tmp_path: Path, name: str
) -> None:
    async with attacked_agent(tmp_path) as siege:
        part = make_repository(siege.workspace) / name
        part.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        part.symlink_to(siege.canary)
        for action in ("status", "diff", "log"):
            assert "canary-" not in result_of(await siege.call("git", {"action": action}))
