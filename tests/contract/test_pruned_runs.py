"""Runs that ended long ago are removed; their sessions, and everything still needed, stay."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.schedule_ports import Timing
from hermes_acp.ids import RandomIds
from hermes_acp.runs.prompt_store import FilePrompts
from hermes_acp.runs.run_service import RunRequest, RunService, cannot_drive
from hermes_acp.runs.schedule_decisions import Decision
from hermes_acp.runs.tables.run_pruning import KEPT_OF_EACH_SCHEDULE
from hermes_acp.runs.tables.schedule_tables import append_occurrence
from hermes_acp.storage.session_store import SessionStore
from tests.contract.run_stage import JumpingClock

pytestmark = pytest.mark.anyio
DAY_S = 86_400.0


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
def service(tmp_path: Path, clock: JumpingClock) -> RunService:
    return RunService(
        environment_of({"HERMES_HOME": str(tmp_path)}),
        clock,
        RandomIds(),
        cannot_drive,
        SessionStore(tmp_path).sharing.fetch,
    )


def prompts_in(home: Path) -> set[str]:
    return {path.read_text() for path in (home / "runs" / "prompts").glob("*.txt")}


async def test_runs_that_ended_long_ago_are_removed_with_their_prompts(
    tmp_path: Path, service: RunService, clock: JumpingClock
) -> None:
    for run_id in ("ended", "waiting", "again"):
        await service.start(RunRequest(f"prompt of {run_id}", "/work", id=run_id))
    await service.add_schedule(RunRequest("prompt of a schedule", "/work"), Timing("0 7 * * *"))
    for run_id in ("ended", "again"):
        await service.engine.stop(run_id)
    for path in (tmp_path / "runs" / "prompts").glob("*.txt"):
        os.utime(path, (0, 0))
    (tmp_path / "ses_of_ended").write_text("a record")
    clock.offset_s += 100 * DAY_S
    await service.start(RunRequest("prompt of again", "/work", id="new"))
    assert await service.prune(90 * DAY_S) == 2
    assert await service.engine.show("ended") is None
    assert (await service.known("waiting")).state == "queued"
    assert {change.run_id for change in await service.engine.changes(0)} == {"waiting", "new"}
    assert prompts_in(tmp_path) == {"prompt of waiting", "prompt of again", "prompt of a schedule"}
    assert (tmp_path / "ses_of_ended").exists()
    assert await service.prune(90 * DAY_S) == 0
    await service.aclose()


async def test_a_prompt_that_was_sent_again_is_not_old(tmp_path: Path) -> None:
    prompts = FilePrompts(tmp_path)
    name = await prompts.put("the same")
    os.utime(tmp_path / "runs" / "prompts" / f"{name}.txt", (0, 0))
    await prompts.put("the same")
    await prompts.prune((), 1_000_000.0)
    assert await prompts.get(name) == "the same"


async def test_the_newest_history_of_each_schedule_is_kept(tmp_path: Path, service: RunService) -> None:
    await service.engine.changes(0)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection, connection:
        for name, number in (("often", KEPT_OF_EACH_SCHEDULE + 5), ("rarely", 2)):
            for at in range(number):
                append_occurrence(connection, name, Decision(float(at), "missed"), 1.0, "")
    await service.prune(DAY_S)
    assert len(await service.engine.schedules.history("often", 100)) == KEPT_OF_EACH_SCHEDULE
    assert len(await service.engine.schedules.history("rarely", 100)) == 2
    await service.aclose()
