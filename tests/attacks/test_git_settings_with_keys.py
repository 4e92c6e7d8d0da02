"""Keys in git's settings: a confined command sees the settings without the keys, however it reads them."""

import subprocess
from pathlib import Path

import pytest

from hermes_acp.core.proposals import Confinement
from hermes_acp.git.setting_secrets import MASK, masked_settings, without_key_settings
from tests.attacks.sandboxes import Sandboxed, sandboxed

pytestmark = pytest.mark.anyio
TOKEN, PASSWORD, HEADER = "ghs_canaryCanaryCanaryCanaryCanary0123456", "canary-password", "canary-header"
OWN = f"""[core]
\trepositoryformatversion = 0
[remote "origin"]
\turl = https://x-access-token:{TOKEN}@github.com/a/b.git
[http "https://github.com/"]
\textraheader = AUTHORIZATION: basic \\
\t{HEADER}
[include]
\tpath = ../shared.inc
"""
CONFINEMENTS: tuple[Confinement, ...] = ("must", "read_only")
LOOKS = (
    "git config --list",
    "git config --list --show-origin | cat",
    "git config --get-regexp '.*'",
    "git remote -v",
    "git ls-remote --get-url",
    "cat .git/config ../project/.git/config | tr a-z A-Z",
    "cat .git/modules/lib/config shared.inc",
    "cat ~/.gitconfig ~/.config/git/config; git config --global --list",
    "cp .git/config ${TMPDIR:-/tmp}/c; cat ${TMPDIR:-/tmp}/c",
    "cat /proc/self/root$PWD/.git/config",
    "python3 -c 'print(open(\".git/config\").read())'",
    "env; printenv; git var -l",
    "mv .git/config x; mv shared.inc y; ln .git/config z; cat x y z; rm -f .git/config; cat .git/config",
    "mv .git g; cat g/config; grep -rs canary . ",
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def settle(box: Sandboxed, home: Path) -> None:
    (box.folder / ".git/config").write_text(OWN)
    (box.folder / "shared.inc").write_text(f'[sendemail]\n\tsmtpPass = "{PASSWORD}"\n')
    (box.folder / ".git/modules/lib").mkdir(parents=True)
    (box.folder / ".git/modules/lib/HEAD").write_text("ref: refs/heads/main\n")
    (box.folder / ".git/modules/lib/config").write_text(OWN.replace("../shared.inc", "nothing"))
    (home / ".gitconfig").write_text(f"[user]\n\tname = Somebody\n[github]\n\toauth-token = {PASSWORD}\n")
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/config").write_text(f"[http]\n\tproxy = http://me:{PASSWORD}@proxy:3128\n")


def shows_key(text: str) -> bool:
    """Return whether a text shows one of the keys, in upper or lower case."""
    return any(key.lower() in text.lower() for key in (TOKEN, PASSWORD, HEADER))


@pytest.mark.parametrize("confinement", CONFINEMENTS)
async def test_git_works_and_shows_no_keys(tmp_path: Path, confinement: Confinement) -> None:
    given = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraheader",
        "GIT_CONFIG_VALUE_0": f"X: {HEADER}",
    }
    async with sandboxed(tmp_path, "bubblewrap", given=given) as box:
        settle(box, tmp_path.resolve() / "home")
        for line in LOOKS:
            assert not shows_key((await box.run(line, confinement=confinement)).output), line
        end = await box.run("git remote -v; git status; git config user.name", confinement=confinement)
        assert end.exit_code == 0, end.output
        assert f"https://{MASK}@github.com/a/b.git (fetch)" in end.output
        assert "Somebody" in end.output
        assert (box.folder / ".git/config").read_text() == OWN


@pytest.mark.parametrize("confinement", CONFINEMENTS)
async def test_landlock_prevents_reading_such_settings(tmp_path: Path, confinement: Confinement) -> None:
    async with sandboxed(tmp_path, "landlock") as box:
        settle(box, tmp_path.resolve() / "home")
        for line in LOOKS:
            assert not shows_key((await box.run(line, confinement=confinement)).output), line
        said = (await box.run("git status", confinement=confinement)).output
        assert "unsandboxed" in said
        assert (box.folder / ".git/config").read_text() == OWN


async def test_a_linked_work_tree_shows_no_keys_of_its_repository(tmp_path: Path) -> None:
    async with sandboxed(tmp_path / "main", "bubblewrap") as main:
        words = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*words, "commit", "--allow-empty", "-qm", "x"], cwd=main.folder, check=True)
        async with sandboxed(tmp_path / "tree", "bubblewrap") as tree:
            subprocess.run(["rm", "-rf", str(tree.folder / ".git")], check=True)
            added = ["git", "worktree", "add", "-q", "-f", str(tree.folder)]
            subprocess.run(added, cwd=main.folder, check=True)
            (main.folder / ".git/config").write_text(OWN)
            end = await tree.run(f"git config --list; cat {main.folder}/.git/config")
            assert not shows_key(end.output)
            assert MASK in end.output


@pytest.mark.parametrize(
    "text",
    [
        '[remote "o"]\n\turl = git@github.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/o/*\n',
        '[remote "o"]\n\turl = ssh://git@example.com:22/a/b\n\tpushurl = https://example.com/a/b\n',
        "[user]\n\tname = A B\n\temail = a@b.c\n\tsigningkey = 3AA5C34371567BD2\n",
        '[credential]\n\thelper = store\n\thelper = "!gh auth git-credential"\n',
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
        "[alias]\n\tst = status -sb\n\tlg = !git log --oneline | head\n",
    ],
)
def test_settings_without_keys_are_unchanged(text: str) -> None:
    assert masked_settings(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[http] extraHeader = canary",
        "[HTTP]\nEXTRAHEADER=canary",
        '[url "https://canary@github.com/"]\n\tinsteadOf = https://github.com/',
        '[url "https://me:canary@github.com/"]\n\tinsteadOf = gh:',
        '[credential]\n\thelper = "!f() { echo username=me; echo password=canary; }; f"',
        '[http "https://x"]\r\n\textraheader = a \\\r\n canary\r\n',
        "[github]\n\ttoken = canary",
        '[remote "o"]\n\tproxy = socks5://me:canary@proxy',
        "[imap]\n\tpass = canary",
        "[sendemail]\n\tsmtppass = canary",
    ],
)
def test_keys_in_settings_are_masked(text: str) -> None:
    assert "canary" not in masked_settings(text)


def test_variables_for_git_reveal_no_keys() -> None:
    kept = without_key_settings(
        {
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "core.editor",
            "GIT_CONFIG_VALUE_0": "false",
            "GIT_CONFIG_KEY_1": "url.https://canary@github.com/.insteadOf",
            "GIT_CONFIG_VALUE_1": "https://github.com/",
            "GIT_CONFIG_PARAMETERS": "'http.extraheader'='Authorization: canary'",
        }
    )
    assert kept["GIT_CONFIG_VALUE_0"] == "false"
    assert not any("canary" in value for value in kept.values())
