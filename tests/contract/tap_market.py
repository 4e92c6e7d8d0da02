"""A git server with one tap, the profiles of a publisher and a reader, and the keys of both and of an outsider."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.frontends.cli.cli_main import run_command

NOBODY = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def git(place: Path, *arguments: str, key: Path | None = None) -> str:
    """Run git without the user's settings, signing with a key if one is given."""
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    signing = ["-c", "gpg.format=ssh", "-c", f"user.signingkey={key}"] if key else []
    done = subprocess.run(
        ["git", *signing, *arguments],
        cwd=place,
        env={"PATH": os.environ["PATH"], "HOME": str(place), **NOBODY, **who},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


class Market:
    """A git server with one repository, the profiles of a publisher and a reader, the publisher's key and another
    key.
    """

    def __init__(self, place: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.url = f"git://127.0.0.1:{port}/tap.git"
        self.keys = {name: place / name for name in ("key", "other", "next")}
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("HOME", str(place))
        for file in self.keys.values():
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file)], check=True
            )

    def be(self, profile: str) -> Path:
        """Switch to a profile and return its home."""
        home = self.place / f"home-{profile}"
        self._monkeypatch.setenv("HERMES_HOME", str(home))
        return home

    def write(self, body: str, name: str = "ship", **files: str) -> Path:
        """Write a skill in the publisher's folder."""
        folder = self.place / "mine" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Ships the site to the server.\n---\n{body}\n"
        )
        for path, text in files.items():
            (folder / path).write_text(text)
        return folder

    def publish(self, body: str, key: str = "key", **files: str) -> int:
        """Publish a version of the skill as the publisher."""
        self.be("publisher")
        folder = self.write(body, **files)
        arguments = [
            "skills",
            "publish",
            str(folder),
            "--to",
            self.url,
            "--key",
            str(self.keys[key]),
            "--yes",
        ]
        return run_command(arguments)

    def commit(self, change: Callable[[Path], None], key: str | None = "key") -> None:
        """Change the repository with a commit, signed with the key or unsigned."""
        clone = self.place / "clone"
        shutil.rmtree(clone, ignore_errors=True)
        git(self.place, "clone", "--quiet", self.url, str(clone))
        change(clone)
        git(clone, "add", "--all")
        signed = ("-S",) if key else ()
        git(clone, "commit", "--quiet", *signed, "--message=x", key=self.keys[key] if key else None)
        git(clone, "push", "--quiet", "origin", "HEAD")

    def index(self, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
        """Return a change to the index."""

        def apply(clone: Path) -> None:
            index = json.loads((clone / "index.json").read_text())
            change(index)
            (clone / "index.json").write_text(json.dumps(index))

        return apply


@contextmanager
def open_market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, branch: str = "main") -> Generator[Market]:
    """Serve an empty repository, whose HEAD names a branch, while the block runs."""
    served = tmp_path / "served"
    served.mkdir()
    git(served, "init", "--quiet", "--bare", f"--initial-branch={branch}", "tap.git")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    daemon = subprocess.Popen(
        [
            *("git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack", "--verbose"),
            *("--listen=127.0.0.1", f"--port={port}", f"--base-path={served}", str(served)),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert daemon.stderr
    assert "Ready to rumble" in daemon.stderr.readline()
    try:
        yield Market(tmp_path, port, monkeypatch)
    finally:
        daemon.terminate()
        daemon.wait()
        daemon.stderr.close()


def installed(home: Path) -> str:
    return (home / "skills" / "ship" / "SKILL.md").read_text()


def reader_with_the_skill(market: Market) -> Path:
    """Publish a first version and install it as the reader."""
    assert market.publish("Run the checks.") == 0
    return reader_of_the_tap(market)


def reader_of_the_tap(market: Market) -> Path:
    """Add the tap and install its skill as the reader."""
    home = market.be("reader")
    assert run_command(["skills", "taps", "add", market.url, "--yes"]) == 0
    assert run_command(["skills", "install", "tap/ship", "--yes"]) == 0
    return home


def rewrite(body: str) -> Callable[[Path], None]:
    """Return a change that affects only the skill's text."""

    def apply(clone: Path) -> None:
        text = f"---\nname: ship\ndescription: Ships the site to the server.\n---\n{body}\n"
        (clone / "skills/ship/SKILL.md").write_text(text)

    return apply
