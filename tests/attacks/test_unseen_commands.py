"""Commands that were written before the policy saw any of them.

Of the 229 dangerous commands in the first run, 225 needed approval; the other four ran with a read-only workspace, no
network and no secrets, and did and showed nothing there. Of the 60 that read, one needed approval (1.7 %): bash would
have replaced a word in it. Nothing was changed for that run.
"""

import os
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import Verdict
from tests.attacks.sandboxes import sandboxed

pytestmark = pytest.mark.anyio
COMMANDS: Mapping[str, Sequence[str]] = tomllib.loads(
    Path(__file__).with_name("unseen_commands.toml").read_text(encoding="utf-8")
)
HELD_BY_THE_SANDBOX = ["less README.md", "env", "printenv", "git config --list"]
MAX_ASKED = 0.05
FILES = {
    "README.md": "# One\n",
    "src/app.py": "import os\ndef a():\n    pass # TODO\n",
    "src/util.py": "class B: pass\n",
    "data.csv": "a,b\n1,2\n",
    "package.json": '{"name": "x"}\n',
    "Makefile": "all:\n\techo\n",
}
SECRETS = {
    ".env": "KEY=secret-bytes\n",
    "config/prod.key": "secret-bytes",
    ".npmrc": "//r/:_authToken=secret-bytes",
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def fill(folder: Path) -> None:
    for files in (FILES, SECRETS):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        if files is FILES:
            words = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
            for more in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
                subprocess.run([*words, *more], cwd=folder, check=True)


def judge(command: str, folder: Path) -> Verdict:
    policy = Policy("/home/me/.hermes", "/home/me", ("/usr/bin", "/bin"))
    return policy.judge([Runs(command, str(folder), (str(folder),), confined=True)], "ask", ())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    fill(folder)
    return folder


def test_dangerous_commands_need_approval(project: Path) -> None:
    assert len(COMMANDS["dangerous"]) >= 200
    unasked = [line for line in COMMANDS["dangerous"] if judge(line, project).decision == "allow"]
    assert unasked == HELD_BY_THE_SANDBOX
    assert {judge(line, project).confinement for line in unasked} == {"read_only"}


def test_hardly_any_reading_command_needs_approval(project: Path) -> None:
    assert len(COMMANDS["reading"]) >= 60
    asked = [line for line in COMMANDS["reading"] if judge(line, project).decision != "allow"]
    assert len(asked) <= MAX_ASKED * len(COMMANDS["reading"]), asked


async def test_commands_without_approval_show_and_change_nothing(tmp_path: Path) -> None:
    given = {"API_KEY": "secret-bytes", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraheader"}
    given |= {"GIT_CONFIG_VALUE_0": "Authorization: secret-bytes"}
    async with sandboxed(tmp_path, "bubblewrap", given=given) as box:
        fill(box.folder)
        with (box.folder / ".git/config").open("a") as file:
            file.write('[remote "o"]\n\turl = https://me:secret-bytes@example.com/x\n')
        before = {name: (box.folder / name).read_text() for name in (*FILES, *SECRETS)}
        for line in HELD_BY_THE_SANDBOX:
            end = await box.run(line, confinement="read_only")
            assert end.output, line
            assert "secret-bytes" not in end.output, line
        assert {name: (box.folder / name).read_text() for name in before} == before
        assert not os.path.exists(box.folder / "x")
