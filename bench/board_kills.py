"""Kill workers, agents and servers at random while they work on a board, and check that no card is lost or done twice.

python -m bench.board_kills [--engine embedded|fleet] [--workers N] [--cards N] [--pause S] [--seed N]
For each card, the agent appends one line to a separate file in a worktree, which is merged once its check succeeds.
Most cards wait for earlier ones. Meanwhile, workers and agent processes are killed at random moments, and workers are
frozen. Like a careful model, the scripted one checks the effect of an interrupted command before repeating it. A card
whose process was killed three times is parked and then made ready again. With `--engine fleet`, the board is in
Postgres, each worker has its own home folder, as if on a separate machine, and a killed worker is restarted only after
others have taken over its claim. Temporal and Postgres are killed too. The unfinished work of a killed worker is kept
on its card's branch, and such branches are counted.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import msgspec
import psutil
from anyio.to_thread import run_sync
from msgspec import Struct

from bench.agents import OURS, prepare
from bench.board_stage import Servers, surroundings
from hermes_acp.app.app import App
from hermes_acp.config.environment import environment_of
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.ports.boards.card_actions import AddCard, LinkCard, MoveCard
from hermes_acp.core.ports.boards.card_events import AttemptStarted, CardMoved
from hermes_acp.core.ports.boards.cards import Actor, CardWork, Link
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.worktrees.worktree_records import WorktreeRecord

BOARD = "default"
ANN = Actor("person", "ann")
LEASE_S = EngineSettings().lease_s
SLACK_S = 2.0
FREEZE_SHARE = 0.1
SERVER_SHARE = 0.15
STARTED = re.compile(r"(\S+): started \(process (\d+)\)")
LOOK_S = 0.1
CLEARED_S = 60.0
WAIT_S = 3600.0
REPORT_S = 20.0


class Worker(Struct):
    """The process and the log of one worker."""

    process: subprocess.Popen[bytes]
    log: Path
    home: Path

    def agents(self) -> list[psutil.Process]:
        """Return the agent processes that work on the worker's cards."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children()
        return []

    def held(self) -> str:
        """Return the last run that the worker reported."""
        found = STARTED.findall(self.log.read_text(errors="replace"))
        return found[-1][0] if found else ""


class Bench:
    """The home folder, the repository, the board and the workers under test."""

    def __init__(self, folder: Path, options: argparse.Namespace, variables: dict[str, str]) -> None:
        self.faults: list[str] = []
        self.counts: Counter[str] = Counter()
        self.recovered_s: dict[str, list[float]] = {"killed": [], "frozen": []}
        self._options = options
        self.is_fleet = options.engine == "fleet"
        self._rng = random.Random(options.seed)
        self._folder = folder
        self.project = folder / "project"
        self.home = folder / ".hermes"
        self.homes = machines_of(self.home, options)
        self.variables = variables
        self.app = App(environment_of({**variables, "HERMES_HOME": str(self.home)}))
        self._workers: list[Worker] = []
        self._number = 0
        self._restarted_at_s = 0.0

    def git(self, *words: str) -> str:
        """Run git in the repository."""
        done = subprocess.run(
            ["git", *words], cwd=self.project, env=self.variables, capture_output=True, text=True, check=True
        )
        return done.stdout

    async def run(self, servers: Servers | None) -> None:
        """Fill the board, let the workers process it while processes are killed, and check the result."""
        self.project.mkdir()
        self.git("init", "-q", "--initial-branch=main")
        self.git("commit", "-q", "--allow-empty", "-m", "Begin")
        await self._fill()
        begun = time.monotonic()
        self._workers = [self._start(home) for home in self.homes]
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._fire, tasks, servers)
                await self._finish(begun)
                tasks.cancel_scope.cancel()
            self.counts["seconds"] = round(time.monotonic() - begun)
            await self._check_remains()
        finally:
            await run_sync(self._end)
        self._check_processes()
        await self._check_work()
        await self.app.board_service.aclose()
        await self.app.run_service.aclose()

    async def _fill(self) -> None:
        """Add the cards, most of which wait for one or two of the preceding thirty. Check that cycles are refused."""
        boards = self.app.board_service
        for number in range(1, self._options.cards + 1):
            earlier = range(max(1, number - 30), number)
            count = self._rng.choice((0, 1, 1, 2)) if len(earlier) > 2 else 0
            work = CardWork(
                str(self.project), mode="bypass", approval="checks", checks=(f"test -s part_{number}.txt",)
            )
            text = f"Append a line to part_{number}.txt."
            await boards.act(BOARD, AddCard(f"Card {number}", text, "inbox", work), ANN)
            for other in self._rng.sample(earlier, count):
                await boards.act(BOARD, LinkCard(str(other), Link("blocks", str(number))), ANN)
            await boards.act(BOARD, MoveCard(str(number), "ready"), ANN)
        board = await boards.board(BOARD)
        link = next((c, each) for c in board.cards.values() for each in c.links if each.kind == "blocks")
        try:
            await boards.act(BOARD, LinkCard(link[1].card_id, Link("blocks", link[0].id)), ANN)
            self.faults.append("a cycle of cards was accepted")
        except BadRequest:
            self.counts["cycles refused"] += 1

    def _start(self, home: Path) -> Worker:
        self._number += 1
        log = self._folder / f"worker{self._number}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [*OURS, "worker", "--slots", "1", "--allow-bypass"],
                cwd=self.project,
                env={**self.variables, "HERMES_HOME": str(home)},
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        return Worker(process, log, home)

    async def _finish(self, begun: float) -> None:
        """Wait until all cards are done, making parked ones ready again."""
        shown = 0.0
        with anyio.fail_after(WAIT_S):
            while True:
                with suppress(StorageError):  # the database has just been killed
                    states = await self._look()
                    if time.monotonic() - shown > REPORT_S:
                        shown = time.monotonic()
                        print(f"  {shown - begun:6.0f} s {dict(states)} {dict(self.counts)}", flush=True)
                    if states["done"] == self._options.cards:
                        return
                await anyio.sleep(1)

    async def _look(self) -> Counter[str]:
        """Make parked cards ready again, and count the cards in each state."""
        board = await self.app.board_service.board(BOARD)
        for card in board.cards.values():
            if card.state in ("parked", "review"):
                await self._go_on(board, card.id)
        return Counter(card.state for card in board.cards.values())

    async def _go_on(self, board: Board, card_id: str) -> None:
        """Make a card ready that was killed too often; any other reason for stopping a card is a fault."""
        card = board.cards[card_id]
        if "was killed" in card.notes.reason:
            self.counts["parked after three kills"] += 1
        else:
            self.faults.append(f"card {card_id} is {card.state}: {card.notes.reason}")
        with suppress(BadRequest):
            await self.app.board_service.act(BOARD, MoveCard(card_id, "ready"), ANN)

    async def _fire(self, tasks: anyio.abc.TaskGroup, servers: Servers | None) -> None:
        """Kill or freeze processes at random moments."""
        while True:
            await anyio.sleep(self._rng.uniform(0, 2 * self._options.pause))
            worker = self._rng.choice(self._workers)
            if servers and self._rng.random() < SERVER_SHARE:
                what = self._rng.choice(("temporal", "postgres"))
                await run_sync(servers.kill_temporal if what == "temporal" else servers.kill_postgres)
                self._restarted_at_s = time.monotonic()
                self.counts[f"killed {what}"] += 1
            elif self._rng.random() < FREEZE_SHARE:
                self._workers.remove(worker)
                self._workers.append(self._start(worker.home))
                tasks.start_soon(self._freeze, worker)
            elif self._rng.random() < 0.5 and (agents := worker.agents()):
                with suppress(psutil.NoSuchProcess):
                    self._rng.choice(agents).kill()
                    self.counts["killed agents"] += 1
            elif len(self._workers) > 1 or not servers:
                self._workers.remove(worker)
                run, epoch = await self._claim(worker)
                worker.process.kill()
                await run_sync(worker.process.wait)
                self.counts["killed workers"] += 1
                if servers:
                    tasks.start_soon(self._stay_away, worker, run, epoch)
                else:
                    tasks.start_soon(self._time_recovery, "killed", run, epoch)
                    self._workers.append(self._start(worker.home))

    async def _stay_away(self, worker: Worker, run: str, epoch: int) -> None:
        """Restart a killed worker once the other machines have released its claim."""
        await self._time_recovery("killed", run, epoch)
        self._workers.append(self._start(worker.home))

    async def _freeze(self, worker: Worker) -> None:
        """Suspend a worker's process until its claim has expired, then resume or kill it."""
        run, epoch = await self._claim(worker)
        worker.process.send_signal(signal.SIGSTOP)
        try:
            self.counts["frozen workers"] += 1
            await self._time_recovery("frozen", run, epoch)
        finally:
            worker.process.send_signal(signal.SIGCONT)
            worker.process.send_signal(self._rng.choice((signal.SIGTERM, signal.SIGKILL)))
            with anyio.CancelScope(shield=True):
                await run_sync(worker.process.wait)

    async def _claim(self, worker: Worker) -> tuple[str, int]:
        """Return the run that a worker holds and the number of its claim."""
        with suppress(StorageError):
            run = await self.app.run_service.engine.show(held) if (held := worker.held()) else None
            if run and run.state == "running":
                return held, run.attempts.epoch
        return "", 0

    async def _time_recovery(self, kind: str, run_id: str, epoch: int) -> None:
        """Measure how long it takes to release the claim of a killed or frozen worker."""
        if not run_id:
            return
        began = time.monotonic()
        while True:
            with suppress(StorageError):
                run = await self.app.run_service.engine.show(run_id)
                if run is None or run.state != "running" or run.attempts.epoch > epoch:
                    break
            await anyio.sleep(LOOK_S)
        took_s = time.monotonic() - max(began, self._restarted_at_s)
        self.recovered_s[kind].append(took_s)
        if took_s > LEASE_S + SLACK_S:
            self.faults.append(f"the claim of {run_id} was released only after {took_s:.1f} s ({kind})")

    def _end(self) -> None:
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.wait(60)

    async def _check_remains(self) -> None:
        """Wait until the cards have left nothing behind except the repository."""
        state = self._folder / ".local" / "state" / "hermes-acp" / "worktrees"
        left: list[str] = []
        with anyio.move_on_after(CLEARED_S):
            while left := self._remains(state):
                await anyio.sleep(1)
        self.faults += [f"left behind: {each}" for each in left]

    def _remains(self, state: Path) -> list[str]:
        folders = [str(each) for each in state.glob("*/*")] if state.exists() else []
        records = [each for home in self.homes for each in (home / "worktrees").glob("*.json")]
        branches = {each.strip() for each in self.git("branch", "--format=%(refname:short)").splitlines()}
        kept = (
            {found.branch for each in records if (found := kept_record(each))}
            if self.is_fleet
            else set[str]()
        )
        self.counts["kept branches"] = len(kept)
        known = self.git("worktree", "list").splitlines()[1:]
        open_records = [str(each) for each in records if not (self.is_fleet and kept_record(each))]
        return [*folders, *open_records, *known, *(branches - kept - {"main"})]

    def _check_processes(self) -> None:
        """Check that no process outlived the workers."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                homes = [str(self.home), *map(str, self.homes)]
                if process.pid != os.getpid() and process.environ().get("HERMES_HOME") in homes:
                    self.faults.append(f"still running: {process.pid} {process.cmdline()}")
                    process.kill()

    async def _check_work(self) -> None:
        """Check that each card's line was written and merged exactly once, after the cards that it waited for."""
        subjects = Counter(self.git("log", "--format=%s", "main").splitlines())
        for number in range(1, self._options.cards + 1):
            file = self.project / f"part_{number}.txt"
            text = file.read_text() if file.exists() else ""
            if text != "written\n":
                self.faults.append(f"card {number}: its file contains {text!r}")
            if subjects[f"Card {number}"] != 1:
                self.faults.append(f"card {number}: {subjects[f'Card {number}']} commits on main")
        await self._check_order()

    async def _check_order(self) -> None:
        boards = self.app.board_service
        board = await boards.board(BOARD)
        done: dict[str, int] = {}
        for entry in await boards.logs.open(BOARD).read():
            match entry.event:
                case CardMoved(card_id=card_id, to="done"):
                    self.faults += [f"card {card_id} was done twice"] if card_id in done else []
                    done[card_id] = entry.number
                case AttemptStarted(card_id=card_id):
                    blockers = [
                        other.id
                        for other in board.cards.values()
                        if Link("blocks", card_id) in other.links and other.id not in done
                    ]
                    self.faults += [f"card {card_id} started before {each} was done" for each in blockers]
                case _:
                    pass


def machines_of(home: Path, options: argparse.Namespace) -> list[Path]:
    """Return the home folder of each worker: a shared one or, in a fleet, separate ones with the same settings."""
    if options.engine == "embedded":
        return [home] * options.workers
    homes = [home.with_name(f"machine{number}") for number in range(1, options.workers + 1)]
    for each in homes:
        each.mkdir(mode=0o700)
        (each / "config.yaml").write_text((home / "config.yaml").read_text())
    return homes


def kept_record(path: Path) -> WorktreeRecord | None:
    """Return the record of a worktree whose unfinished work was kept on its branch."""
    record = msgspec.json.decode(path.read_bytes(), type=WorktreeRecord)
    return record if record.stage == "kept" else None


def spread(values: Sequence[float]) -> str:
    """Format the count, the median and the maximum."""
    if not values:
        return "none"
    ordered = sorted(values)
    return f"{len(ordered)}, median {ordered[len(ordered) // 2]:.1f} s, at most {ordered[-1]:.1f} s"


async def main(options: argparse.Namespace) -> int:
    """Run the benchmark and print the findings; return the exit code."""
    with TemporaryDirectory(prefix="board-kills-") as made:
        folder = Path(made).resolve()
        async with surroundings(folder, options.engine) as (variables, servers):
            bench = Bench(folder, options, variables)
            await bench.run(servers)
    print(f"{options.engine}, {options.workers} workers, {options.cards} cards: {dict(bench.counts)}")
    for kind, values in bench.recovered_s.items():
        print(f"claims of {kind} workers released (limit {LEASE_S + SLACK_S:g} s): {spread(values)}")
    print("\n".join(bench.faults) or "No card was lost or done twice, and nothing was left behind.")
    return bool(bench.faults)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("embedded", "fleet"), default="embedded")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--cards", type=int, default=500)
    parser.add_argument("--pause", type=float, default=3.0, help="average seconds between two kills")
    parser.add_argument("--seed", type=int, default=1)
    prepare()
    sys.exit(anyio.run(main, parser.parse_args()))
