"""A hub whose users are operating system users: one of them tries to reach another's agent from the machine itself."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import msgspec
import psutil
import pytest

from tests.architecture.sources import ROOT
from tests.attacks.os_user_attempts import Outcome, Target
from tests.e2e.agent_process import WAIT_S
from tests.e2e.hub_serving import Hub, hub_of
from tests.e2e.test_hub import greeted, sessions_of, workers
from tests.model_server import Reply, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0 or shutil.which("useradd") is None,
        reason="only root can add users and serve several of them",
    ),
]
OPEN_PYTHON = """
set -e
mkdir -p "$1/python"
mount --bind "$2" "$1/python"
mount -t tmpfs -o mode=755 none "$3"
mkdir -p "$2"
mount --bind "$1/python" "$2"
shift 3
exec "$@"
"""
"""Makes a Python that only root can read available to everybody, in the hub's mounts alone."""


@pytest.fixture
def public_folder() -> Generator[Path]:
    """Return a folder that every user can enter, like those of real homes."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-users-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def os_user(homes: Path) -> Generator[pwd.struct_passwd]:
    """Add an operating system user, whose home others may enter, for the block."""
    name = f"hermes{secrets.token_hex(4)}"
    subprocess.run(["useradd", "--create-home", "--base-dir", homes, name], check=True, capture_output=True)
    try:
        entry = pwd.getpwnam(name)
        Path(entry.pw_dir).chmod(0o755)
        yield entry
    finally:
        subprocess.run(["userdel", name], check=True, capture_output=True)


def opened_python(scratch: Path) -> list[str]:
    """Return the command with which every user can start this Python, if only root can read it."""
    place = Path(sys.base_prefix).resolve()
    closed = [folder for folder in reversed(place.parents) if not folder.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return []
    return [
        "unshare",
        "--mount",
        "/bin/sh",
        "-c",
        OPEN_PYTHON,
        "sh",
        str(scratch),
        str(place),
        str(closed[0]),
    ]


def target_of(hub: Hub, victim: pwd.struct_passwd, attacker: pwd.struct_passwd, token: str) -> Target:
    """Return everything that belongs to the victim and the hub now."""
    (process,) = [each for each in workers(hub) if each.uids().real == victim.pw_uid]
    trees = (Path(victim.pw_dir) / ".hermes", hub.folder)
    found = [Path(folder, name) for tree in trees for folder, _, names in os.walk(tree) for name in names]
    held = [*process.net_connections("tcp"), *psutil.Process(hub.process.pid).net_connections("tcp")]
    ports = {connection.laddr[1] for connection in held if connection.status == psutil.CONN_LISTEN}
    return Target(
        attacker.pw_uid,
        attacker.pw_gid,
        [folder for tree in trees for folder, _, _ in os.walk(tree)],
        [str(path) for path in found if path.is_file()],
        [str(path) for path in found if path.is_socket()],
        [process.pid, hub.process.pid],
        sorted(ports),
        token,
    )


async def test_another_os_user_can_reach_nothing_of_a_users_agent(public_folder: Path) -> None:
    with os_user(public_folder) as anna, os_user(public_folder) as ben:
        workspace = Path(anna.pw_dir) / "workspace"
        workspace.mkdir()
        async with serve([Reply("For Anna.")]) as model, hub_of(public_folder / "hub", model) as hub:
            (public_folder / "hub").chmod(0o755)
            tokens = [
                await hub.add_user(name, "--os-user", entry.pw_name)
                for name, entry in (("anna", anna), ("ben", ben))
            ]
            await hub.start(*opened_python(public_folder))
            async with greeted(hub.url, tokens[0]) as client:
                session = await client.open_session(workspace)
                await client.prompt(session, "hello")
                await client.hear(session, "For Anna.")
                target = target_of(hub, anna, ben, tokens[1])
                ended = await tried(target)
                assert len(ended) >= 40
                assert any(session in each.name for each in ended)
                assert [each.name for each in ended if not each.refusal] == []
                assert await sessions_of(client) == [session]
                assert tokens[0] not in str([psutil.Process(pid).cmdline() for pid in target.processes])


async def tried(target: Target) -> list[Outcome]:
    """Have the attacker try everything; return the result of each attempt."""
    with anyio.fail_after(WAIT_S):
        done = await anyio.run_process(
            [sys.executable, "-m", "tests.attacks.os_user_attempts"],
            input=msgspec.json.encode(target),
            cwd=ROOT,
        )
    return msgspec.json.decode(done.stdout, type=list[Outcome])
