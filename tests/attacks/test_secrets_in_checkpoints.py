"""Checkpoints contain no keys: neither by file name nor by content, ignored by git or not."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.storage.checkpoints.checkpoint_store import StoreSetup
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from tests.attacks.attack_checks import attacked_agent
from tests.contract.test_checkpoints import Workshop, git
from tests.e2e.raw_editor import permit
from tests.model_server import Reply, ToolCall
from tests.unit.telemetry import secret_samples as samples

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]
ASK = "session/request_permission"
BY_NAME = (".env", "deploy/.dev.vars", "prod.tfvars", ".aws/config", "tls/server.key", "kubeconfig", ".envrc")
PLAIN = "words-that-no-pattern-knows"
TOKEN = dict(samples.tokens(random.Random(31)))["github token"]
KEY = samples.key_block(random.Random(32)) + "\n"
BY_CONTENT = {
    "notes/backup.txt": f"DEBUG=1\nGITHUB_TOKEN={TOKEN}\nREGION=eu\n",
    "id_backup": KEY,
    "account.json": f'{{\n  "user": "me",\n  "token": "{TOKEN}"\n}}\n',
}


def kept_in(home: Path) -> bytes:
    """Return the content of all objects of the checkpoints in a home, and of plain files beside them."""
    shadows_folder = home / "checkpoints"
    parts = [path.read_bytes() for path in shadows_folder.rglob("*") if path.is_file()]
    for shadow in shadows_folder.iterdir():
        if (shadow / "objects").is_dir():
            command = ("git", "--git-dir", str(shadow), "cat-file", "--batch", "--batch-all-objects")
            parts.append(subprocess.run(command, capture_output=True, check=True).stdout)
    return b"\n".join(parts)


def with_keys(place: Path) -> Workshop:
    workshop = Workshop(place.resolve())
    for name in BY_NAME:
        workshop.write(name, f"value {PLAIN}\n")
    for name, content in BY_CONTENT.items():
        workshop.write(name, content)
    workshop.write("main.py", "print('kept')\n")
    setup = workshop.store.setup
    workshop.store.setup = StoreSetup(
        setup.home, setup.variables, SnapshotLimits(1 << 20, holds_keys=is_sensitive)
    )
    return workshop


def check(workshop: Workshop) -> None:
    kept = kept_in(workshop.home)
    assert b"print('kept')" in kept
    assert PLAIN.encode() not in kept
    assert TOKEN.encode() not in kept
    assert KEY.splitlines()[2].encode() not in kept


@pytest.mark.parametrize("ignored", [False, True])
def test_files_with_keys_are_in_no_checkpoint_whether_ignored_or_not(tmp_path: Path, ignored: bool) -> None:
    workshop = with_keys(tmp_path)
    names = (*BY_NAME, *BY_CONTENT)
    if ignored:
        workshop.write(".gitignore", "".join(f"/{name}\n" for name in names))
    touched = [workshop.root / name for name in names]
    workshop.turn(lambda: [path.write_text(path.read_text() + "\n") for path in touched], *touched)
    workshop.turn(lambda: workshop.write("main.py", "print('kept', 2)\n"))
    check(workshop)


def test_tracked_files_with_keys_are_in_no_checkpoint(tmp_path: Path) -> None:
    workshop = with_keys(tmp_path)
    git(workshop.root, "init", "-q")
    git(workshop.root, "add", "-A")
    git(workshop.root, "commit", "-qm", "all of it")
    workshop.write(".gitignore", ".env\n")
    workshop.turn(lambda: workshop.write("main.py", "print('kept', 2)\n"))
    workshop.store.copy_borrowed(workshop.roots)
    check(workshop)


def test_undo_names_the_files_it_does_not_cover_and_restores_the_others(tmp_path: Path) -> None:
    workshop = with_keys(tmp_path)

    def act() -> None:
        workshop.write(".env", "changed\n")
        workshop.write("main.py", "changed\n")

    workshop.turn(act, workshop.root / ".env", workshop.root / "main.py")
    done = workshop.undo()
    assert (workshop.root / "main.py").read_text() == "print('kept')\n"
    assert (workshop.root / ".env").read_text() == "changed\n"
    assert str(workshop.root / ".env") in {path for each in done.taken_back for path in each.left_out}
    assert not done.conflicts


def test_a_file_that_got_a_key_is_not_silently_overwritten(tmp_path: Path) -> None:
    workshop = with_keys(tmp_path)
    workshop.write("settings.ini", "[a]\nregion = eu\n")
    workshop.turn(lambda: workshop.write("settings.ini", BY_CONTENT["notes/backup.txt"]))
    done = workshop.undo()
    assert [conflict.path for conflict in done.conflicts] == [str(workshop.root / "settings.ini")]
    assert "keys" in done.conflicts[0].why
    assert not workshop.undo(force=True).conflicts
    assert (workshop.root / "settings.ini").read_text() == "[a]\nregion = eu\n"
    check(workshop)


def test_keys_stored_by_an_earlier_version_are_removed_and_its_checkpoints_still_load(tmp_path: Path) -> None:
    workshop = with_keys(tmp_path)
    now = workshop.store.setup
    workshop.store.setup = StoreSetup(now.home, now.variables, SnapshotLimits(1 << 20))
    early = workshop.turn(lambda: workshop.write("main.py", "early\n"))
    for shadow in (workshop.home / "checkpoints").glob("*/without-keys-*"):
        shadow.unlink()
    workshop.store.setup = now
    late = workshop.turn(lambda: workshop.write("main.py", "late\n"))
    note, _ = workshop.store.find("ses_1", late)
    for place in note.places:
        listed = workshop.store.shadow(place.root).git.run("ls-tree", "-r", "--name-only", "-z", place.before)
        assert b".env" not in listed.split(b"\0")
        assert b"main.py" in listed.split(b"\0")
    assert [each.id for each in workshop.store.listed("ses_1")] == [early, late]
    assert not workshop.undo(2).conflicts
    assert (workshop.root / "main.py").read_text() == "print('kept')\n"


async def test_a_session_says_before_and_after_a_change_that_undo_does_not_cover_a_secret(
    tmp_path: Path,
) -> None:
    work = tmp_path / "workspace"
    work.mkdir()
    (work / ".env").write_text(f"NAME={PLAIN}\n")
    async with attacked_agent(tmp_path, cwd=work, answers={ASK: permit("allow_once")}) as siege:
        session_id = await siege.agent.open_session(work)
        look = ToolCall("read_file", {"path": ".env"})
        edit = ToolCall("edit_file", {"path": ".env", "old_text": PLAIN, "new_text": "other"})
        other = ToolCall("write_file", {"path": "made.txt", "content": "made\n"})
        await siege.turn(Reply(tool_calls=(look,)), Reply(tool_calls=(edit, other)), session_id=session_id)
        assert (work / ".env").read_text() == "NAME=other\n"
        asked = [message for message in siege.agent.messages if message.get("method") == ASK]
        assert any("not covered by undo" in str(each) for each in asked)
        await siege.agent.prompt(session_id, "/undo")
        assert "Not covered by undo" in str(siege.agent.messages[-10:])
        assert not (work / "made.txt").exists()
        assert (work / ".env").read_text() == "NAME=other\n"
        assert PLAIN.encode() not in kept_in(siege.home / ".hermes")
