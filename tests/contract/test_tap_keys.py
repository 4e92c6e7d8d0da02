"""A publisher changes or revokes the key of a tap; readers accept only what the old key has signed."""

import json
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.skills.taps.tap_keys import KEYS_FILE, KeySigner
from hermes_acp.skills.taps.tap_publisher import public_key
from hermes_acp.skills.taps.tap_store import TapStore
from tests.contract.tap_market import Market, git, installed, open_market, reader_with_the_skill, rewrite

pytestmark = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("ssh-keygen")), reason="needs git and ssh-keygen"
)


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Market]:
    with open_market(tmp_path, monkeypatch) as market:
        yield market


def change_key(market: Market, old: str, new: str) -> int:
    """Rotate the tap's key as the publisher, or revoke it if there is no new one."""
    market.be("publisher")
    action = ["rotate", "--new-key", str(market.keys[new])] if new else ["revoke"]
    return run_command(["skills", "taps", *action, market.url, "--key", str(market.keys[old]), "--yes"])


def key_of(market: Market, name: str) -> str:
    return public_key(market.keys[name])


def update(market: Market) -> int:
    market.be("reader")
    return run_command(["skills", "update", "--yes"])


def statements(market: Market, *changes: tuple[str, str, str]) -> Callable[[Path], None]:
    """Return a commit that adds statements: the old key, the new one, and the key that actually signs."""

    def apply(clone: Path) -> None:
        signer = KeySigner(market.place, "/usr/bin:/bin")
        file = clone / KEYS_FILE
        known: list[dict[str, str]] = json.loads(file.read_text())["changes"] if file.exists() else []
        for old, new, by in changes:
            signed = signer.change(key_of(market, old), key_of(market, new) if new else "", market.keys[by])
            known.append({"old": signed.old, "new": signed.new, "signature": signed.signature})
        file.write_text(json.dumps({"format": 1, "changes": known}))

    return apply


def test_a_reader_follows_a_change_confirmed_by_the_old_key_and_is_told(
    market: Market, capsys: pytest.CaptureFixture[str]
) -> None:
    home = reader_with_the_skill(market)
    assert change_key(market, "key", "next") == 0
    assert "is signed by the key SHA256:" in capsys.readouterr().out
    assert market.publish("Run the checks, then ship.", key="next") == 0
    assert update(market) == 0
    said = capsys.readouterr()
    assert "tap has a new key: SHA256:" in said.err
    assert "signed the change and is no longer accepted" in said.err
    assert "then ship" in installed(home)
    tap = TapStore(home).find("tap")
    assert (tap.key, [each.key for each in tap.former_keys]) == (
        key_of(market, "next"),
        [key_of(market, "key")],
    )
    assert update(market) == 0
    assert "new key" not in capsys.readouterr().err
    assert run_command(["skills", "taps", "list"]) == 0
    assert "key until " in capsys.readouterr().out


def test_an_absent_reader_follows_several_changes_and_a_new_one_pins_the_last(
    market: Market, capsys: pytest.CaptureFixture[str]
) -> None:
    home = reader_with_the_skill(market)
    assert change_key(market, "key", "next") == 0
    assert change_key(market, "next", "other") == 0
    assert market.publish("Run the checks, then ship.", key="other") == 0
    assert update(market) == 0
    assert "then ship" in installed(home)
    assert TapStore(home).find("tap").key == key_of(market, "other")
    newcomer = market.be("newcomer")
    assert run_command(["skills", "taps", "add", market.url, "--yes"]) == 0
    assert TapStore(newcomer).find("tap").key == key_of(market, "other")
    capsys.readouterr()


def unreadable(clone: Path) -> None:
    (clone / KEYS_FILE).write_text("[]")


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("signed by the new key only", "which the key before it does not confirm"),
        ("statement by another key", "which the key before it does not confirm"),
        ("two successors", "names several successors"),
        ("the replaced key again", "which the key before it does not confirm"),
        ("back to the replaced key", "already replaced"),
        ("unreadable", "keys.json cannot be read"),
    ],
)
def test_a_change_that_the_old_key_does_not_confirm_is_rejected(
    market: Market, capsys: pytest.CaptureFixture[str], what: str, why: str
) -> None:
    home = reader_with_the_skill(market)
    match what:
        case "signed by the new key only":
            market.commit(rewrite("Evil."), key="next")
        case "statement by another key":
            market.commit(statements(market, ("key", "next", "next")), key="next")
        case "two successors":
            market.commit(statements(market, ("key", "next", "key"), ("key", "other", "key")), key="other")
        case "unreadable":
            market.commit(unreadable)
        case _:
            assert change_key(market, "key", "next") == 0
            assert update(market) == 0
            if what == "the replaced key again":
                market.commit(rewrite("Evil."), key="key")
            else:
                market.commit(statements(market, ("next", "key", "next")), key="key")
    before = installed(home)
    capsys.readouterr()
    assert update(market) != 0
    assert why in capsys.readouterr().err
    assert installed(home) == before
    assert not list((home / "quarantine").iterdir())


def test_a_revoked_tap_is_rejected_permanently_even_if_the_host_hides_the_revocation(
    market: Market, capsys: pytest.CaptureFixture[str]
) -> None:
    home = reader_with_the_skill(market)
    assert change_key(market, "key", "") == 0
    assert "Users of the tap learn this" in capsys.readouterr().out
    assert update(market) != 0
    assert "The tap tap can no longer be used: The publisher revoked the key" in capsys.readouterr().err
    git(market.place / "served" / "tap.git", "update-ref", "refs/heads/main", "main~1")
    assert update(market) != 0
    assert run_command(["skills", "install", "tap/ship", "--yes"]) != 0
    capsys.readouterr()
    assert run_command(["skills", "audit"]) == 1
    assert "whose publisher revoked its key" in capsys.readouterr().out
    assert run_command(["skills", "taps", "list"]) == 0
    assert "(revoked)" in capsys.readouterr().out
    assert TapStore(home).find("tap").is_revoked


def test_a_tap_whose_key_was_replaced_or_revoked_cannot_be_added(
    market: Market, capsys: pytest.CaptureFixture[str]
) -> None:
    assert market.publish("Run the checks.") == 0
    assert change_key(market, "key", "next") == 0
    market.commit(rewrite("Evil."), key="key")
    home = market.be("reader")
    assert run_command(["skills", "taps", "add", market.url, "--yes"]) != 0
    assert "which its publisher replaced or revoked" in capsys.readouterr().err
    assert not TapStore(home).taps()


def test_only_the_current_key_publishes_and_changes_keys(
    market: Market, capsys: pytest.CaptureFixture[str]
) -> None:
    assert change_key(market, "key", "next") != 0
    assert "has no commit yet" in capsys.readouterr().err
    assert market.publish("Run the checks.") == 0
    assert change_key(market, "other", "next") != 0
    assert "This tap is signed with SHA256:" in capsys.readouterr().err
    assert change_key(market, "key", "key") != 0
    assert "signed this tap before" in capsys.readouterr().err
    assert change_key(market, "key", "next") == 0
    assert market.publish("Run more.", key="key") != 0
    assert market.publish("Run more.", key="next") == 0
    assert change_key(market, "next", "key") != 0
    assert change_key(market, "next", "") == 0
    capsys.readouterr()
    assert market.publish("Run less.", key="next") != 0
    assert "This key was replaced or revoked in the tap" in capsys.readouterr().err


def test_a_key_change_asks_first(market: Market, capsys: pytest.CaptureFixture[str]) -> None:
    assert market.publish("Run the checks.") == 0
    market.be("publisher")
    words = ["--new-key", str(market.keys["next"]), market.url, "--key", str(market.keys["key"])]
    assert run_command(["skills", "taps", "rotate", *words]) != 0
    assert "Changing a tap's key needs your approval" in capsys.readouterr().err
    assert "keys.json" not in git(market.place / "served" / "tap.git", "ls-tree", "--name-only", "main")
