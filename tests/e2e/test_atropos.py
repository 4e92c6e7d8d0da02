"""Rollouts for Atropos: attempts run in a batch, are scored, and reach its real API server as a group."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from bench.evaluation import ScriptedSolver, read_tasks
from tests.architecture.sources import ROOT
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, run_command
from tests.model_server import Reply, Script, serve
from tests.model_server.requests import Recorded
from tests.ports import quiet_port

ATROPOS = Path(sys.prefix, "atropos")
PYTHON = Path(sys.prefix, "verifiers", "bin", "python")
TASK = "sort_lines"
MAKE_TOKENIZER = """
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
core = Tokenizer(models.BPE(vocab={each: number for number, each in enumerate(alphabet)}, merges=[]))
core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
core.decoder = decoders.ByteLevel()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core)
tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
tokenizer.save_pretrained(sys.argv[1])
"""
DECODE = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
group = json.load(sys.stdin)
trained = [[token for token in mask if token != -100] for mask in group["masks"]]
whole = [tokenizer.decode(tokens) for tokens in group["tokens"]]
print(json.dumps({"trained": [tokenizer.decode(each) for each in trained], "whole": whole}))
"""

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(not (ATROPOS.is_dir() and PYTHON.is_file()), reason="needs tests/install.sh all"),
]


@asynccontextmanager
async def atropos(environment: Mapping[str, str]) -> AsyncGenerator[httpx2.AsyncClient]:
    """Run its API server with a trainer that has started."""
    port = quiet_port()
    words = ["-m", "hypercorn", "atroposlib.api.server:app", "--bind", f"127.0.0.1:{port}"]
    process = await anyio.open_process(
        [sys.executable, *words], env={**environment, "PYTHONPATH": str(ATROPOS)}, stderr=subprocess.DEVNULL
    )
    async with process, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        try:
            await until_it_answers(client)
            about = {"wandb_group": "", "wandb_project": "", "batch_size": 2, "max_token_len": 9000}
            more = {"checkpoint_dir": "", "save_checkpoint_interval": 0, "starting_step": 0, "num_steps": 1}
            await client.post("/register", json={**about, **more})
            assert (await client.get("/batch")).json() == {"batch": None}
            yield client
        finally:
            process.kill()


async def until_it_answers(client: httpx2.AsyncClient) -> None:
    with anyio.fail_after(WAIT_S):
        while True:
            try:
                await client.get("/")
            except httpx2.ConnectError:
                await anyio.sleep(0.05)
            else:
                return


async def test_a_group_reaches_the_trainer_scored_and_masked(home: Path) -> None:
    (task,) = [each for each in read_tasks(ROOT / "bench" / "evaluation_tasks") if each.name == TASK]
    tasks, tokenizer = home / "tasks", home / "tokenizer"
    tasks.mkdir()
    (tasks / f"{TASK}.toml").write_bytes((ROOT / "bench" / "evaluation_tasks" / f"{TASK}.toml").read_bytes())
    solve = ScriptedSolver([task])

    def choose(request: Recorded) -> Reply:
        """Solve the task in the first attempt only."""
        is_first = f"/{TASK}.0" in json.dumps(request.body)
        return solve(request) if is_first else Reply("I do not know how.")

    async with serve(Script(choose=choose)) as server:
        environment = agent_environment(home, server)
        environment["PATH"] = f"{Path(COMMAND).parent}:{environment['PATH']}"
        made = await run_command(
            "-c", MAKE_TOKENIZER, str(tokenizer), environment=environment, cwd=home, command=str(PYTHON)
        )
        assert made.code == 0, made.errors
        async with atropos(environment) as client:
            script = str(ROOT / "examples" / "atropos" / "roll_out.py")
            flags = ("--group-size", "2", "--tokenizer", str(tokenizer), "--api", str(client.base_url))
            words = (script, str(tasks), *flags, "--work", str(home / "work"))
            refused = await run_command(*words, environment=environment, cwd=home, command=str(PYTHON))
            assert (refused.code, "--yes" in refused.errors) == (2, True), refused.errors
            done = await run_command(*words, "--yes", environment=environment, cwd=home, command=str(PYTHON))
            assert (done.code, "1 of 2 passed" in done.errors) == (0, True), done.errors
            (group,) = (await client.get("/batch")).json()["batch"]
    assert sorted(group["scores"]) == [-1.0, 1.0]
    said = await run_command(
        *("-c", DECODE, str(tokenizer)),
        given=json.dumps(group).encode(),
        environment=environment,
        cwd=home,
        command=str(PYTHON),
    )
    words_of = said.report
    failed = group["scores"].index(-1.0)
    assert words_of["trained"][failed] == "<assistant>I do not know how.</>"
    assert all(task.prompt in whole for whole in words_of["whole"])
    assert all(str(home) not in whole for whole in words_of["whole"]), "the home folder was not replaced"
