"""`hermes-acp model` lists, tests and sets models without the dialogue of setup."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.model_server import Fault, ModelServer, Reply, serve

pytestmark = pytest.mark.anyio
COMMAND = Path(sys.executable).parent / "hermes-acp"


async def run(home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "HERMES_HOME": str(home), **variables}
    with anyio.fail_after(60):
        return await anyio.run_process(
            [str(COMMAND), "model", *arguments], env=environment, cwd=home, check=False
        )


def configure(home: Path, server: ModelServer) -> Path:
    """Write settings with the user's own endpoint."""
    file = home / "config.yaml"
    file.write_text(
        f"# mine\nprovider: lab\nmodel: scripted-small\nproviders:\n  lab: {{base_url: {server.openai_base_url}}}\n",
        encoding="utf-8",
    )
    return file


async def test_the_models_of_an_endpoint_are_listed(tmp_path: Path) -> None:
    async with serve([]) as server:
        configure(tmp_path, server)
        done = await run(tmp_path)
        assert done.stdout.decode().splitlines() == ["  lab/scripted-large", "* lab/scripted-small"]
        rows = json.loads((await run(tmp_path, "list", "--json")).stdout)
    assert [(row["model"], row["is_used"]) for row in rows] == [
        ("scripted-large", False),
        ("scripted-small", True),
    ]


@pytest.mark.slow
async def test_a_model_is_tested_and_set_and_a_failing_one_is_not(tmp_path: Path) -> None:
    replies = [Reply("ok"), Reply("ok"), Reply(fault=Fault(status=401))]
    async with serve(replies) as server:
        file = configure(tmp_path, server)
        before = file.read_text(encoding="utf-8")
        tried = await run(tmp_path, "try", "lab/scripted-large")
        assert (tried.returncode, file.read_text(encoding="utf-8")) == (0, before)
        done = await run(tmp_path, "set", "scripted-large", HERMES_MODEL="another")
        assert b"The model is now lab/scripted-large" in done.stdout
        assert b"override it: HERMES_MODEL" in done.stderr
        after = file.read_text(encoding="utf-8")
        assert after == before.replace("scripted-small", "scripted-large")
        failed = await run(tmp_path, "set", "lab/secret")
        assert (failed.returncode, file.read_text(encoding="utf-8")) == (3, after)
        assert b"Nothing was changed" in failed.stderr
    assert [request.body["model"] for request in server.requests] == ["scripted-large"] * 2 + ["secret"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("try",), b"Name a model."),
        (("list", "--provider", "nobody"), b"There is no provider 'nobody'"),
        (("list", "--provider", "mistral"), b"Mistral AI needs an API key"),
        (("list",), b"No provider is set up."),
        (("drop",), b"must be one of list, try, set"),
    ],
)
async def test_missing_arguments_are_named(tmp_path: Path, arguments: tuple[str, ...], words: bytes) -> None:
    if arguments == ("try",):
        (tmp_path / "config.yaml").write_text("provider: ollama\n", encoding="utf-8")
    done = await run(tmp_path, *arguments)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
