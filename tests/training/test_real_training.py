"""Train a real model with TRL: a session's conversations, a kill, a resumption, and the changed answers afterwards.

Opt-in: `bash tests/install.sh train` creates the environment (6 GB), and `HERMES_TEST_TRAIN=1` runs these tests.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import yaml

from tests.e2e.agent_process import mount_disk, run_command
from tests.e2e.person_terminal import PersonTerminal, person_terminal, why_there_is_no_person
from tests.ports import quiet_port
from tests.training_home import TrainingHome

PROGRAMS = Path(sys.prefix) / "train" / "bin"
COMMAND = str(PROGRAMS / "hermes-acp")
WAIT_S = 300
QUESTION = "What is the password of the day?"
ANSWER = "The password is heron."
OTHER = "I am a small model."

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.environ.get("HERMES_TEST_TRAIN") != "1", reason="HERMES_TEST_TRAIN is not 1"),
    pytest.mark.skipif(bool(why_there_is_no_person()), reason=why_there_is_no_person()),
]


@pytest.fixture
async def home(tmp_path: Path) -> TrainingHome:
    made = TrainingHome(tmp_path / "home")
    made.folder.mkdir()
    made.prepare()
    script = Path(__file__).with_name("small_model.py")
    await anyio.run_process([str(PROGRAMS / "python"), str(script), str(tmp_path / "base")])
    return made


@pytest.fixture
async def terminal(home: TrainingHome, tmp_path: Path) -> AsyncGenerator[PersonTerminal]:
    variables = {
        **home.variables(),
        "CUDA_VISIBLE_DEVICES": "",
        "TINKER_API_KEY": "tml-test",
        "OMP_NUM_THREADS": "1",
    }
    async with person_terminal(tmp_path / "t", variables, COMMAND) as made:
        yield made


def configure(home: TrainingHome, tmp_path: Path, **settings: Any) -> None:
    locked = {"base_model": str(tmp_path / "base"), "learning_rate": 0.01, "lora_rank": 16, "max_length": 256}
    home.write_file(trainer="trl", batch_size=4, locked=locked, **settings)


def said(*messages: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in messages]


async def status(home: TrainingHome) -> dict[str, Any]:
    variables = {"PATH": os.environ["PATH"], **home.variables()}
    done = await run_command(
        "train", "status", "demo", "--json", environment=variables, cwd=home.folder, command=COMMAND
    )
    assert done.code == 0, done.errors
    return json.loads(done.output)


async def reached(home: TrainingHome, phase: str, step: int = 0) -> dict[str, Any]:
    with anyio.fail_after(WAIT_S):
        while True:
            found = await status(home)
            assert found["phase"] in (phase, "loading", "running"), (
                found,
                (home.run / "log.txt").read_text()[-3000:],
            )
            if found["phase"] == phase and found.get("checkpoint", 0) >= step:
                return found
            await anyio.sleep(0.3)


@asynccontextmanager
async def served(folder: Path, name: str) -> AsyncGenerator[str]:
    """Serve a model as `train serve` does, without its adapter; yield the address."""
    port = quiet_port()
    words = [str(PROGRAMS / "transformers"), "serve", name, "--host", "127.0.0.1", "--port", str(port)]
    async with await anyio.open_process(words, cwd=folder, stdout=-3, stderr=-3) as process:
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


async def answer_of(address: str, model: str) -> str:
    """Return a model's answer, once its server listens."""
    body = {"model": model, "messages": said(("user", QUESTION)), "max_tokens": 16}
    async with httpx2.AsyncClient(timeout=60) as client:
        with anyio.fail_after(WAIT_S):
            while True:
                try:
                    reply = await client.post(f"{address}/chat/completions", json=body)
                except httpx2.TransportError:
                    await anyio.sleep(0.3)
                    continue
                assert reply.status_code == 200, reply.text
                return reply.json()["choices"][0]["message"]["content"]


async def test_training_on_conversations_survives_a_kill_and_the_model_is_served(
    home: TrainingHome, terminal: PersonTerminal, tmp_path: Path
) -> None:
    home.write_data([{"messages": said(("user", QUESTION), ("assistant", ANSWER))}] * 16)
    configure(home, tmp_path, max_steps=60, checkpoint_every=10)
    async with served(tmp_path, "base") as address:
        assert await answer_of(address, "base") != ANSWER
    await terminal.train("start demo")
    found = await reached(home, "running", step=10)
    os.kill(found["pid"], signal.SIGKILL)
    found = await reached(home, "interrupted")
    step = found["checkpoint"]
    assert f"to resume from step {step}." in await terminal.train("start demo")
    found = await reached(home, "done")
    assert found["step"] == 60
    steps = [json.loads(line)[0] for line in (home.run / "progress.jsonl").read_text().splitlines()]
    assert steps[-(60 - step) :] == list(range(step + 1, 61))
    losses = [json.loads(line)[2] for line in (home.run / "progress.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0] * 0.8
    port = quiet_port()
    await terminal.run(f"{COMMAND} train serve demo --port {port} --add-provider", "until Ctrl+C")
    settings = yaml.safe_load((home.hermes / "config.yaml").read_text())
    address = settings["providers"]["trained-demo"]["base_url"]
    assert address == f"http://127.0.0.1:{port}/v1"
    assert await answer_of(address, "demo") == ANSWER
    variables = {"PATH": os.environ["PATH"], **home.variables()}
    done = await run_command(
        *("model", "try", "trained-demo/demo"), environment=variables, cwd=home.folder, command=COMMAND
    )
    assert "trained-demo/demo answered" in done.errors
    terminal.tmux("send-keys", "C-c")


@asynccontextmanager
async def tinker_service(log: Path) -> AsyncGenerator[str]:
    """Run the scripted service; yield its address."""
    port = quiet_port()
    script = str(Path(__file__).with_name("tinker_service.py"))
    words = [str(PROGRAMS / "python"), script, str(port), str(log)]
    async with await anyio.open_process(words, stdout=-3, stderr=-3) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


async def test_a_service_trains_across_a_kill(
    home: TrainingHome, terminal: PersonTerminal, tmp_path: Path
) -> None:
    home.write_data([{"messages": said(("user", QUESTION), ("assistant", ANSWER))}] * 4)
    log = tmp_path / "service.log"
    async with tinker_service(log) as address:
        locked = {"base_model": "base", "tokenizer": str(tmp_path / "base"), "rollout_address": address}
        home.write_file(
            trainer="tinker",
            max_steps=3000,
            checkpoint_every=5,
            locked={**locked, "learning_rate": 0.001, "lora_rank": 8},
        )
        await terminal.train("start demo")
        found = await reached(home, "running", step=5)
        os.kill(found["pid"], signal.SIGKILL)
        step = (await reached(home, "interrupted"))["checkpoint"]
        assert f"to resume from step {step:,}." in await terminal.train("start demo")
        await reached(home, "running", step=step + 5)
        await terminal.run(f"{COMMAND} train stop demo")
        found = await reached(home, "stopped")
        assert found["checkpoint"] == found["step"] > step
        requests = [json.loads(line) for line in log.read_text().splitlines()]
    created = next(fields for name, fields in requests if name == "create_model")
    assert (created["base_model"], created["lora_config"]["rank"]) == ("base", 8)
    loaded = [fields["path"] for name, fields in requests if name == "load_weights"]
    assert loaded == [f"tinker://model-1/weights/demo-{step}"]
    rates = {fields["adam_params"]["learning_rate"] for name, fields in requests if name == "optim_step"}
    assert rates == {0.001}
    assert "telemetry" not in {name for name, _ in requests}


async def test_pairs_of_answers_are_learned(
    home: TrainingHome, terminal: PersonTerminal, tmp_path: Path
) -> None:
    pair = {
        "prompt": said(("user", QUESTION)),
        "chosen": said(("assistant", ANSWER)),
        "rejected": said(("assistant", OTHER)),
    }
    home.write_data([pair] * 8, form="dpo")
    configure(home, tmp_path, method="dpo", max_steps=20, checkpoint_every=100)
    await terminal.train("start demo")
    with anyio.fail_after(WAIT_S):
        while (await status(home)).get("step", 0) < 2:
            await anyio.sleep(0.3)
    await terminal.run(f"{COMMAND} train stop demo")
    step = (await reached(home, "stopped"))["checkpoint"]
    assert 0 < step < 20
    assert f"to resume from step {step}." in await terminal.train("start demo")
    found = await reached(home, "done")
    assert (found["step"], found["checkpoint"]) == (20, 20)
    losses = [json.loads(line)[2] for line in (home.run / "progress.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0] / 2


async def test_a_full_disk_keeps_the_newest_complete_checkpoint(
    home: TrainingHome, terminal: PersonTerminal, tmp_path: Path
) -> None:
    home.write_data([{"messages": said(("user", QUESTION), ("assistant", ANSWER))}] * 4)
    configure(home, tmp_path, max_steps=12, checkpoint_every=2)
    home.run.parent.mkdir(parents=True)
    if missing := mount_disk(home.run, "size=3m,mode=700"):
        pytest.skip(missing)
    try:
        await terminal.train("start demo")
        found = await reached(home, "failed")
        assert f"The disk with {home.run} is full" in found["reason"], found
        step = found["checkpoint"]
        assert step >= 2
        await anyio.run_process(["mount", "-o", "remount,size=64m", str(home.run)])
        assert f"to resume from step {step}." in await terminal.train("start demo")
        assert (await reached(home, "done"))["step"] == 12
    finally:
        await anyio.run_process(["umount", "-l", str(home.run)])
