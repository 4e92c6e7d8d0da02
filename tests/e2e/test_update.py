"""`hermes-acp update` in a real environment: a local index, faults during the update, and a session that stays open.

`bench/update_faults.py` interrupts many more updates, at random points.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc
import pytest

from tests.architecture.sources import ROOT
from tests.e2e.agent_process import WAIT_S, Finished, agent_environment, run_command
from tests.e2e.raw_editor import editor
from tests.e2e.update_stage import FIRST, build_wheel, install, other_version, served, write_index
from tests.model_server import Reply, Rule, Script, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
SECOND, BROKEN = "0.2.0", "0.3.0"
BUNDLED = "hermes_acp/skills/bundled"
REVIEWING, WRITING = f"{BUNDLED}/review-changes/SKILL.md", f"{BUNDLED}/write-a-skill/SKILL.md"
COMING = f"{BUNDLED}/coming/SKILL.md"
COMING_SKILL = b"---\nname: coming\ndescription: About what comes.\n---\nWait for it.\n"
BROKEN_MODULE = "hermes_acp/agent/loop/turn_runner.py"


def changed_skill(name: str) -> bytes:
    return (ROOT / name).read_bytes() + b"\nNew in the second version.\n"


class Place:
    """One installation with its own index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.first = build_wheel(folder / "first")
        skills = {REVIEWING: changed_skill(REVIEWING), WRITING: changed_skill(WRITING), COMING: COMING_SKILL}
        self.second = other_version(self.first, folder / "second", SECOND, skills)
        broken = {BROKEN_MODULE: b'"""Fail."""\n\nraise RuntimeError("broken")\n'}
        self.broken = other_version(self.first, folder / "broken", BROKEN, broken)
        self.pages = folder / "index"
        write_index(self.pages, self.first)
        self.root = folder / "app"
        self.command = install(self.root, self.first)
        self.home = folder / "home"
        self.home.mkdir()
        kept = ("UV_CACHE_DIR", "SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL")
        cache = {"UV_CACHE_DIR": str(Path(os.environ.get("HOME", "/"), ".cache", "uv"))}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        passed = {name: os.environ[name] for name in kept if name in os.environ}
        self.variables = {**agent_environment(self.home), **cache, **passed, "PATH": path}

    async def run(self, *words: str) -> Finished:
        return await run_command(
            *words, environment=self.variables, cwd=self.folder, command=str(self.command)
        )

    def own_skill(self, name: str) -> Path:
        return self.home / ".hermes" / "skills" / name / "SKILL.md"

    def add_skills(self) -> None:
        """Write an edited and an unedited copy of a built-in skill, and a folder to install a skill from."""
        source = self.folder / "source"
        for path, content in (
            (self.own_skill("review-changes"), (ROOT / REVIEWING).read_bytes() + b"\nMy own line.\n"),
            (self.own_skill("write-a-skill"), (ROOT / WRITING).read_bytes()),
            (source / "SKILL.md", b"---\nname: team-notes\ndescription: Notes of the team.\n---\nOne.\n"),
        ):
            path.parent.mkdir(parents=True)
            path.write_bytes(content)

    async def version(self) -> str:
        done = await self.run("--version")
        assert done.code == 0, done.errors
        return done.output.split()[-1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[Place]:
    folder = tmp_path_factory.mktemp("update")
    yield Place(folder)
    shutil.rmtree(folder, ignore_errors=True)


def worker_of(root: Path) -> int:
    """Return the process that runs an update, which leads its own process group; 0 if there is none."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
                if b"--detached" in words and words[0].startswith(os.fsencode(root)):
                    return int(name)
    return 0


async def read_until(process: anyio.abc.Process, pattern: bytes) -> bytes:
    """Read the output of an update until a step starts."""
    assert process.stdout
    output = b""
    with anyio.fail_after(WAIT_S):
        while not re.search(pattern, output):
            output += await process.stdout.receive()
    return output


async def until_gone(root: Path) -> None:
    with anyio.fail_after(WAIT_S * 2):
        while worker_of(root):
            await anyio.sleep(0.05)


async def test_update_and_roll_back_with_a_session_open_all_the_time(place: Place) -> None:
    rule = Rule("hello", (Reply("Hello back."),), pick="cycle")
    workspace = place.folder / "workspace"
    workspace.mkdir()
    async with serve(Script(rules=[rule])) as server:
        variables = agent_environment(place.folder / "editor", server)
        with served(place.pages) as address:
            async with editor(variables, place.folder, command=(str(place.command),)) as one:
                session = await one.open_session(workspace)
                await _install_skills(place)
                await _update_from(place, address)
                assert (await one.prompt(session, "hello"))["result"] == {"stopReason": "end_turn"}
                opened = await one.open_session(workspace)
                assert (await one.prompt(opened, "hello"))["result"] == {"stopReason": "end_turn"}
                await _go_back(place)
                assert (await one.prompt(session, "hello"))["result"] == {"stopReason": "end_turn"}
                assert await one.leave() == 0
                assert "Traceback" not in one.errors


async def _update_from(place: Place, address: str) -> None:
    checked = await place.run("update", "--check", "--index", address)
    assert checked.output == f"{FIRST} is the newest version at {address}.\n", checked.errors
    write_index(place.pages, place.first, place.second)
    checked = await place.run("update", "--check", "--index", address)
    assert checked.output.startswith(f"Version {SECOND} is available; {FIRST} is in use."), checked.errors
    assert await place.version() == FIRST, "a check changes nothing"
    before = sorted((place.root / "lib").rglob("*.py"))
    done = await place.run("update", "--index", address)
    assert done.code == 0, done.errors + (place.root / "versions" / "update.log").read_text()
    assert f"hermes-acp is now {SECOND}. Open sessions keep {FIRST}." in done.output
    await _check_skills(place, done.output)
    assert await place.version() == SECOND
    assert sorted((place.root / "lib").rglob("*.py")) == before
    write_index(place.pages, place.first, place.second, place.broken)
    failed = await place.run("update")  # The index is remembered.
    assert failed.code == 1
    assert f"Version {BROKEN} does not work here." in failed.errors
    assert f"{SECOND} stays in use." in failed.errors
    assert await place.version() == SECOND
    assert not list((place.root / "versions").glob(f"{BROKEN}-*"))


async def _install_skills(place: Place) -> None:
    place.add_skills()
    installed = await place.run("skills", "install", str(place.folder / "source"), "--yes")
    assert installed.code == 0, installed.errors
    newer = place.folder / "source" / "SKILL.md"
    newer.write_text(newer.read_text().replace("One.", "Two."))


async def _check_skills(place: Place, output: str) -> None:
    """Check that edited and installed skills are unchanged, and that the unedited copy and the built-in ones are
    new.
    """
    assert "Built-in skills: new: coming; changed: review-changes, write-a-skill." in output
    assert place.own_skill("review-changes").read_text().endswith("\nMy own line.\n")
    assert "used instead of built-in ones that changed: review-changes." in output
    assert place.own_skill("write-a-skill").read_bytes() == changed_skill(WRITING)
    assert place.own_skill("team-notes").read_text().endswith("One.\n")
    assert "To look for newer versions: hermes-acp skills update" in output
    listed = json.loads((await place.run("skills", "list", "--json")).output)
    states = {line["name"]: line["whose"] for line in listed["lines"] if line["state"] == "enabled"}
    assert states["coming"] == "built in"
    assert states["review-changes"] == states["team-notes"] == "yours"
    updated = await place.run("skills", "update", "--yes")
    assert (updated.code, place.own_skill("team-notes").read_text().endswith("Two.\n")) == (0, True)


async def _go_back(place: Place) -> None:
    done = await place.run("update", "--back")
    assert (done.code, await place.version()) == (0, FIRST), done.errors
    assert "no longer built in: coming." in done.output
    assert place.own_skill("write-a-skill").read_bytes() == (ROOT / WRITING).read_bytes()
    again = await place.run("update", "--back")
    assert again.code == 2
    assert f"No version before {FIRST} is available." in again.errors


async def test_a_hangup_does_not_stop_the_update_and_a_kill_leaves_one_whole_version(place: Place) -> None:
    wanted = [str(place.command), "update", "--from", str(place.second)]
    for left in (place.root / "versions").glob(f"{SECOND}-*"):
        shutil.rmtree(left)
    for number, expected in ((signal.SIGKILL, FIRST), (signal.SIGHUP, SECOND)):
        async with await anyio.open_process(wanted, env=place.variables, cwd=place.folder) as process:
            await read_until(process, rb"Installing|Starting")
            worker = worker_of(place.root)
            busy = await place.run("update")
            assert (busy.code, "Another update is running." in busy.errors) == (75, True)
            process.send_signal(signal.SIGHUP)
            os.killpg(worker, number)
        await until_gone(place.root)
        assert await place.version() == expected
    assert (await place.run("update", "--trial")).code == 0
    examined = await place.run("doctor")
    assert "An update was interrupted" not in examined.output, (
        "the next update removed what the killed one left"
    )


async def test_an_update_that_is_asked_to_stop_cleans_up(place: Place) -> None:
    wanted = [str(place.command), "update", "--from", str(place.first)]
    async with await anyio.open_process(wanted, env=place.variables, cwd=place.folder) as process:
        await read_until(process, rb"Installing")
        process.send_signal(signal.SIGINT)
        with anyio.fail_after(WAIT_S):
            assert await process.wait() == 130
    assert await place.version() == SECOND
    assert not list((place.root / "versions").glob(f"{FIRST}-*"))
