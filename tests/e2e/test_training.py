"""`hermes-acp train` at a terminal: a user starts, watches, kills, resumes and stops a training."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, run_command
from tests.e2e.person_terminal import CODE, PersonTerminal, person_terminal, why_there_is_no_person
from tests.training_home import CONVERSATION, TrainingHome

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(bool(why_there_is_no_person()), reason=why_there_is_no_person()),
]


@pytest.fixture
def home(tmp_path: Path) -> TrainingHome:
    made = TrainingHome(tmp_path / "home")
    made.folder.mkdir()
    made.prepare()
    return made


@pytest.fixture
async def terminal(home: TrainingHome, tmp_path: Path) -> AsyncGenerator[PersonTerminal]:
    async with person_terminal(
        tmp_path / "t", {**home.variables(), "SCRIPTED_KEY": "k", "OPENAI_API_KEY": "sk-1"}
    ) as made:
        yield made
    for log in home.run.glob("state.json"):  # Of a test that failed.
        with suppress(ProcessLookupError):
            os.kill(json.loads(log.read_text())["pid"], signal.SIGKILL)


async def status(home: TrainingHome) -> dict[str, Any]:
    variables = {"PATH": os.environ["PATH"], **home.variables()}
    done = await run_command("train", "status", "demo", "--json", environment=variables, cwd=home.folder)
    assert done.code == 0, done.errors
    return json.loads(done.output)


async def status_once(home: TrainingHome, is_reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    with anyio.move_on_after(WAIT_S):
        while not is_reached(await status(home)):
            await anyio.sleep(0.05)
    found = await status(home)
    assert is_reached(found), found
    return found


async def ended(home: TrainingHome) -> dict[str, Any]:
    return await status_once(home, lambda found: found["phase"] not in ("loading", "running"))


def given(home: TrainingHome) -> dict[str, Any]:
    return json.loads((home.run / "given.json").read_text())


async def test_a_user_starts_a_training_and_sees_its_progress(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    home.allow(7)
    assert (await status(home))["phase"] == "not_started"
    shown = await terminal.train("start demo")
    assert "learning_rate  0.001" in shown
    assert "1 record of 1 session" in shown
    assert "Read the terms of the models." in shown
    assert "Training demo in process" in shown
    found = await status_once(home, lambda found: found.get("step") == 7)
    assert (found["phase"], found["total"], found["checkpoint"]) == ("running", 20, 5)
    assert found["seconds_left"] >= 0
    assert found["loss"] == pytest.approx(1 / 7)
    assert os.getpgid(found["pid"]) == found["pid"] == os.getsid(found["pid"])
    again = await terminal.run(f"{COMMAND} train start demo")
    assert "This training is already running." in again
    assert "There is no trained adapter yet." in await terminal.run(f"{COMMAND} train serve demo")
    home.allow(20)
    found = await ended(home)
    assert (found["phase"], found["step"]) == ("done", 20)
    assert "The service that trained it also serves it." in await terminal.run(f"{COMMAND} train serve demo")
    assert (home.run / "adapter" / "weights").read_text() == "trained"
    variables = given(home)["variables"]
    assert variables["SCRIPTED_KEY"] == "k"
    assert "OPENAI_API_KEY" not in variables
    assert "This training is done." in await terminal.run(f"{COMMAND} train start demo")


async def test_a_killed_training_resumes_from_its_newest_complete_checkpoint(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    home.allow(12)
    await terminal.train("start demo")
    found = await status_once(home, lambda found: found.get("step") == 12)
    os.kill(found["pid"], signal.SIGKILL)
    found = await ended(home)
    assert (found["phase"], found["checkpoint"]) == ("interrupted", 10)
    (home.run / "checkpoints" / "checkpoint-12").mkdir()
    home.allow(20)
    shown = await terminal.train("start demo")
    assert "to resume from step 10." in shown
    assert (await ended(home))["phase"] == "done"
    assert given(home)["resume_step"] == 10
    assert not (home.run / "checkpoints" / "checkpoint-12").exists()


async def test_a_stopped_training_ends_with_a_checkpoint(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    home.allow(7)
    await terminal.train("start demo")
    await status_once(home, lambda found: found.get("step") == 7)
    assert "It will save a checkpoint after this step and stop." in await terminal.run(
        f"{COMMAND} train stop demo"
    )
    home.allow(20)
    found = await ended(home)
    assert (found["phase"], found["checkpoint"]) == ("stopped", 8)
    assert "This training run is not in progress." in await terminal.run(f"{COMMAND} train stop demo")
    assert "to resume from step 8." in await terminal.train("start demo")
    assert (await ended(home))["phase"] == "done"


@pytest.mark.parametrize("answer", ["", "yes", "00000000-aaaa"])
async def test_nothing_starts_without_the_code(
    home: TrainingHome, terminal: PersonTerminal, answer: str
) -> None:
    asked = await terminal.run(f"{COMMAND} train start demo", "to start")
    assert CODE.search(asked)
    await terminal.type(answer)
    await terminal.wait_for("Nothing was started.")
    assert (await status(home))["phase"] == "not_started"


async def test_keys_that_were_pressed_before_the_question_do_not_count(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    asked = await terminal.run(f"{COMMAND} train start demo", "to start")
    first = CODE.search(asked)
    assert first
    terminal.tmux("send-keys", "C-c")
    await terminal.wait_for("Interrupted")
    shown = await terminal.train("start demo")
    second = CODE.search(shown)
    assert second
    assert first[1] != second[1]
    assert first[1][:8] == second[1][:8]


async def test_changes_made_while_the_user_is_asked_prevent_the_start(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    asked = await terminal.run(f"{COMMAND} train start demo", "to start")
    found = CODE.search(asked)
    assert found
    home.write_file(learning_rate=0.5)
    await terminal.type(found[1])
    await terminal.wait_for("changed while you were being asked")
    assert (await status(home))["phase"] == "not_started"


async def test_nothing_starts_if_an_agent_works_while_the_user_is_asked(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    asked = await terminal.run(f"{COMMAND} train start demo", "to start")
    found = CODE.search(asked)
    assert found
    (home.hermes / "sessions").mkdir()
    (home.hermes / "sessions" / "ses_1.jsonl").write_text("{}\n")
    await terminal.type(found[1])
    await terminal.wait_for("An agent worked in the session ses_1 while you were asked")
    assert (await status(home))["phase"] == "not_started"


async def test_changed_locked_fields_prevent_resuming(home: TrainingHome, terminal: PersonTerminal) -> None:
    home.allow(7)
    await terminal.train("start demo")
    found = await status_once(home, lambda found: found.get("step") == 7)
    os.kill(found["pid"], signal.SIGKILL)
    await ended(home)
    home.write_file(learning_rate=0.5)
    assert "differ from those of the checkpoints" in await terminal.run(f"{COMMAND} train start demo")
    home.write_file()
    home.write_data([CONVERSATION, CONVERSATION])
    assert "differ from those of the checkpoints" in await terminal.run(f"{COMMAND} train start demo")
    home.allow(20)
    assert "to start." in await terminal.train("start demo --anew")
    assert (await ended(home))["phase"] == "done"
    assert (given(home)["resume_step"], given(home)["records"]) == (0, 2)


async def test_a_full_disk_is_explained_and_the_training_resumes(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    home.play(fails_at=8, fault="full")
    await terminal.train("start demo")
    found = await ended(home)
    assert found["phase"] == "failed"
    assert "is full" in found["reason"]
    assert "Complete checkpoints are kept" in found["reason"]
    home.play()
    assert "to resume from step 5." in await terminal.train("start demo")
    assert (await ended(home))["phase"] == "done"


async def test_a_trainer_that_fails_leaves_its_reason(home: TrainingHome, terminal: PersonTerminal) -> None:
    home.play(fails_at=1, fault="the weights are odd")
    await terminal.train("start demo")
    found = await ended(home)
    assert (found["phase"], found["reason"]) == (
        "failed",
        "RuntimeError: the weights are odd. The log has more.",
    )
    assert "Traceback" in (home.run / "log.txt").read_text()


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"messages": []}, "line 2: `messages` must be a list of messages"),
        (
            {"messages": [{"role": "user", "content": "x"}]},
            "line 2: `messages` has no answer of the assistant",
        ),
        ({"messages": [{"role": "robot", "content": "x"}]}, "line 2: `messages[0]` must have a `role`"),
    ],
)
async def test_invalid_data_is_explained_before_anybody_is_asked(
    home: TrainingHome, terminal: PersonTerminal, record: dict[str, Any], told: str
) -> None:
    home.write_data([CONVERSATION, record])
    assert told in await terminal.run(f"{COMMAND} train start demo")


async def test_trainers_that_are_not_installed_are_named(
    home: TrainingHome, terminal: PersonTerminal
) -> None:
    home.write_file(trainer="trl")
    shown = await terminal.run(f"{COMMAND} train start demo")
    assert "Not installed: trl, peft, torch, transformers, datasets." in shown
    home.write_file(trainer="abacus")
    assert "There is no trainer 'abacus'." in await terminal.run(f"{COMMAND} train start demo")
