"""Workspace files hidden from confined commands; git and ordinary work continue without them."""

import os
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from hermes_acp.core.proposals import Confinement, Runs
from hermes_acp.policy.policy_engine import Policy
from tests.attacks.sandboxes import WAYS, Sandboxed, sandboxed

pytestmark = pytest.mark.anyio
IDENTITY = "git config --global user.name a; git config --global user.email a@b; "
CONFINEMENTS: tuple[Confinement, ...] = ("must", "read_only")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=WAYS)
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, request.param) as opened:
        yield opened


def write(place: Path, name: str, text: str) -> None:
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(text)


def git(place: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=place,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("confinement", CONFINEMENTS)
async def test_files_with_secrets_cannot_be_read_at_any_depth(
    box: Sandboxed, confinement: Confinement
) -> None:
    for name in (
        ".env",
        "a/b/c/d/e/f/g/h/.env.local",
        "certs/server.key",
        "deploy/id_rsa",
        "x/.aws/credentials",
    ):
        write(box.folder, name, "secret-bytes")
    end = await box.run(
        "cat .env a/b/c/d/e/f/g/h/.env.local certs/* deploy/* x/.aws/credentials; grep -rs secret .",
        confinement=confinement,
    )
    assert "secret-bytes" not in end.output
    assert "ran in a sandbox" in end.output


async def test_a_secret_added_later_is_hidden_from_the_next_command(box: Sandboxed) -> None:
    write(box.folder, "a/x", "x")
    assert "x" in (await box.run("cat a/x")).output
    write(box.folder, "a/.env", "secret-bytes")
    assert "secret-bytes" not in (await box.run("cat a/.env")).output
    os.rename(box.folder / "a", box.folder / "b")
    assert "secret-bytes" not in (await box.run("cat b/.env")).output


@pytest.mark.parametrize("place", ["node_modules", "target", ".venv/q", "vendor/site-packages/q"])
async def test_no_secret_is_readable_through_a_package_folder(box: Sandboxed, place: str) -> None:
    for name in ("deep/.env", "deep/.aws/credentials", "deep/a/id_ed25519"):
        write(box.folder, f"src/{name}", "secret-bytes")
    write(box.folder, "src/deep/tls.key", "-----BEGIN PRIVATE KEY-----\nsecret-bytes")
    write(box.folder, "src/deep/notes", "plain-bytes")
    await box.run(f"mkdir -p $(dirname {place}); mv src/deep {place}")
    if not (box.folder / place).exists():
        (box.folder / place).parent.mkdir(parents=True, exist_ok=True)
        os.rename(box.folder / "src/deep", box.folder / place)
    for confinement in CONFINEMENTS:
        end = await box.run(f"grep -rs bytes {place}", confinement=confinement)
        assert "plain-bytes" in end.output
        assert "secret-bytes" not in end.output


async def test_certificates_in_packages_are_readable(box: Sandboxed) -> None:
    write(box.folder, "node_modules/certs/ca.pem", "public")
    assert (await box.run("cat node_modules/certs/ca.pem")).output == "public"


async def test_unmodified_committed_files_stay_visible(box: Sandboxed) -> None:
    write(box.folder, "fixtures/server.pem", "known to all")
    git(box.folder, "add", ".")
    git(box.folder, "commit", "-qm", "x")
    end = await box.run("cat fixtures/server.pem; git status --short", confinement="read_only")
    assert end.output == "known to all"
    write(box.folder, "fixtures/server.pem", "secret-bytes")
    assert "secret-bytes" not in (await box.run("cat fixtures/server.pem", confinement="read_only")).output


async def test_no_entry_in_the_index_reveals_a_secret(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        write(box.folder, ".env", "secret-bytes")
        line = "git update-index --add --cacheinfo 100644,$(git hash-object -w --stdin < /dev/null),.env"
        assert (await box.run(line)).exit_code == 0
        assert (
            "secret-bytes"
            not in (await box.run("cat .env; git show :.env; git add .env; git show :.env")).output
        )


async def test_ordinary_work_continues_beside_hidden_files(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap") as box:
        for name in (".env", ".npmrc", "config/prod.key"):
            write(box.folder, name, "secret-bytes")
        write(box.folder, ".gitignore", ".env\n")
        end = await box.run(
            IDENTITY + "echo x > a.txt; git add a.txt; git commit -qm x; git status --short; git stash -q; "
            'python3 -c \'print(len(list(__import__("os").walk("."))) > 1)\''
        )
        assert end.exit_code == 0, end.output
        assert "True" in end.output
        assert git(box.folder, "show", "--stat", "--format=%s").split()[0] == "x"
        assert (box.folder / ".env").read_text() == "secret-bytes"


async def test_a_folder_is_secret_only_if_its_content_is(box: Sandboxed) -> None:
    for name in (".env/bin/activate", "src/secrets.json/notes", "src/.env.d/notes"):
        write(box.folder, name, "plain-bytes")
    for name in (".env/.env", ".ssh/notes", "src/.aws/notes", ".env/lib/server.key"):
        write(box.folder, name, "secret-bytes")
    end = await box.run("grep -rs -e plain -e secret .", confinement="read_only")
    assert end.output.count("plain-bytes") == 3
    assert "secret-bytes" not in end.output
    policy = Policy("/home/me/.hermes", "/home/me", ("/usr/bin", "/bin"))
    here = str(box.folder)
    for line, decision in (
        ("ls .env", "allow"),
        ("cat .env/bin/activate", "allow"),
        ("grep -r plain .env", "allow"),
        ("cat .env/.env", "ask"),
        ("ls .ssh", "ask"),
        ("cat src/.aws/notes", "ask"),
        ("cat .env/lib/server.key", "ask"),
    ):
        assert policy.judge([Runs(line, here, (here,), confined=True)], "ask", ()).decision == decision, line
