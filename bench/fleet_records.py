"""Measure records that machines share: the extra cost of a settle, the lag of a follower, and 200 network partitions.

Run: python -m bench.fleet_records [PARTITIONS]
Two home folders of one profile share a real Postgres server. The cost of a settle is compared with that of a home
folder that shares nothing. In each partition, the machine that holds the record is cut off from the database while it
writes, and the other machine takes the record over. Every settled event must then exist exactly once, in order, on both
machines. The connection is closed, or stalls in a relay, or (as root, with iptables) has its packets dropped by the
kernel in both directions.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from random import Random

import anyio
import anyio.abc
from anyio.to_thread import run_sync

from examples.fleet_demo.fleet_servers import postgres
from hermes_acp.core.errors import Busy, StorageError
from hermes_acp.core.events import NoteAdded, SessionOpened
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS
from hermes_acp.runs.fleet.records.fleet_records import FleetRecords
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript

SETTLES, SENT, EVERY_S = 300, 200, 0.05
GOAL_SETTLE_MS, GOAL_LAG_MS = 10, 60
QUICK = EngineSettings(lease_s=0.9, heartbeat_s=0.2, poll_s=0.2, idle_poll_s=0.2)
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


class Machine:
    """A machine with a home folder of the profile; without a database, it shares nothing."""

    def __init__(
        self, home: Path, uri: str | None, settings: EngineSettings, patience_s: float = 20.0
    ) -> None:
        def share(store: SessionStore) -> FleetRecords | None:
            if uri is None:
                return None
            database = PostgresDatabase(uri, "bench", MIGRATIONS, writes_alone=False)
            return FleetRecords(database, store.folder, store.path_of, settings, patience_s)

        home.mkdir(exist_ok=True)
        self.store = SessionStore(home, share=share)

    async def begin(self, session_id: str) -> Transcript:
        transcript = await run_sync(self.store.create, session_id)
        transcript.append(SessionOpened(session_id, "/", ("/",), 1.0))
        self.store.sharing.share(transcript)
        await transcript.settle()
        return transcript

    async def open(self, session_id: str) -> Transcript:
        await self.store.sharing.fetch(session_id)
        return (await run_sync(self.store.sharing.reopen, session_id))[0]

    def notes(self, session_id: str) -> list[str]:
        events = Transcript.read_events(self.store.path_of(session_id))
        return [event.text for event in events if isinstance(event, NoteAdded)]


def percentile(values: list[float], share: float) -> float:
    return 1e3 * sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def settle_times(machine: Machine) -> list[float]:
    transcript = await machine.begin("ses_settle")
    took: list[float] = []
    for number in range(SETTLES):
        transcript.append(NoteAdded(f"note {number}"))
        began = time.perf_counter()
        await transcript.settle()
        took.append(time.perf_counter() - began)
    transcript.close()
    return took


async def lags(one: Machine, other: Machine) -> list[float]:
    transcript = await one.begin("ses_follow")
    await other.store.sharing.fetch("ses_follow")
    records = other.store.sharing.records
    assert records
    took: list[float] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.store.sharing.keep)

        async def write() -> None:
            for _ in range(SENT):
                transcript.append(NoteAdded(repr(time.perf_counter())))
                await anyio.sleep(EVERY_S)
            transcript.close()

        async with aclosing(records.follow("ses_follow", other.store.path_of("ses_follow"))) as news:
            tasks.start_soon(write)
            async for events in news:
                now = time.perf_counter()
                took += [now - float(event.text) for event in events if isinstance(event, NoteAdded)]
        tasks.cancel_scope.cancel()
    return took


class Network:
    """A relay in front of the database's socket, which can be cut off or stall."""

    def __init__(self, target: str) -> None:
        self.port = 0
        self._target = target
        self._open: set[anyio.abc.ByteStream] = set()
        self._passes = anyio.Event()
        self._passes.set()
        self._is_cut = False
        self._is_dropped = False

    async def cut(self) -> None:
        """Close all connections, and refuse new ones."""
        self._is_cut = True
        for stream in tuple(self._open):
            await stream.aclose()

    def stall(self) -> None:
        """Forward nothing, like a network that drops packets."""
        self._passes = anyio.Event()

    def drop(self) -> None:
        """Have the kernel drop all packets to and from the relay."""
        self._is_dropped = True
        self._filter("-I")

    def mend(self) -> None:
        self._is_cut = False
        self._passes.set()
        if self._is_dropped:
            self._is_dropped = False
            self._filter("-D")

    def _filter(self, action: str) -> None:
        for side in ("--dport", "--sport"):
            rule = ("INPUT", "-i", "lo", "-p", "tcp", side, str(self.port), "-j", "DROP")
            subprocess.run(["iptables", "-w", action, *rule], check=True)

    async def serve(self, near: anyio.abc.SocketStream) -> None:
        with suppress(*GONE):
            async with near:
                if self._is_cut:
                    return
                async with await anyio.connect_unix(self._target) as far:
                    self._open |= {near, far}
                    try:
                        async with anyio.create_task_group() as tasks:
                            tasks.start_soon(self._pump, near, far, tasks)
                            tasks.start_soon(self._pump, far, near, tasks)
                    finally:
                        self._open -= {near, far}

    async def _pump(
        self, source: anyio.abc.ByteStream, target: anyio.abc.ByteStream, tasks: anyio.abc.TaskGroup
    ) -> None:
        with suppress(*GONE):
            async for piece in source:
                await self._passes.wait()
                await target.send(piece)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def network(socket_path: str) -> AsyncGenerator[Network]:
    """Yield a relay in front of a database's Unix socket."""
    relay = Network(socket_path)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        relay.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, relay.serve)
            try:
                yield relay
            finally:
                relay.mend()
                tasks.cancel_scope.cancel()


async def add(transcript: Transcript, word: str) -> bool:
    """Add a note to the record; return whether it was settled."""
    try:
        transcript.append(NoteAdded(word))
        await transcript.settle()
    except StorageError:
        return False
    return True


async def opened(machine: Machine) -> Transcript:
    """Open the record, retrying while another process seems to have it open."""
    while True:
        with suppress(Busy):
            transcript = await machine.open("ses_split")
            if transcript.trouble is None:
                return transcript
            transcript.close()


def can_drop() -> bool:
    """Return whether this process can make the kernel drop packets."""
    listing = ["iptables", "-w", "-L", "INPUT", "-n"]
    return (
        bool(shutil.which("iptables"))
        and not subprocess.run(listing, capture_output=True, check=False).returncode
    )


async def partitions(folder: Path, socket_path: str, count: int) -> tuple[int, int, int]:
    """Cut machines off one after another; return the numbers of settled, refused and wrong events."""
    chance = Random(count)
    kinds = ("stall", "cut", "drop") if can_drop() else ("stall", "cut")
    print(f"partitions   by {', '.join(kinds)}", flush=True)
    settled: list[str] = []
    refused = 0
    async with network(socket_path) as first, network(socket_path) as second:
        sides = [
            (
                Machine(
                    folder / f"side{port}", f"postgresql://postgres@127.0.0.1:{port}/postgres", QUICK, 0.5
                ),
                net,
            )
            for net in (first, second)
            for port in (net.port,)
        ]
        transcript = await sides[0][0].begin("ses_split")
        async with anyio.create_task_group() as tasks:
            for machine, _ in sides:
                tasks.start_soon(machine.store.sharing.keep)
            for turn in range(count):
                holder, other = sides[turn % 2], sides[(turn + 1) % 2]
                words = [f"{turn}.{number}" for number in range(chance.randrange(3))]
                settled += [word for word in words if await add(transcript, word)]
                match chance.choice(kinds):
                    case "stall":
                        holder[1].stall()
                    case "drop":
                        holder[1].drop()
                    case _:
                        await holder[1].cut()
                late: list[bool] = []
                taken: list[Transcript] = []

                async def write_late(
                    place: Transcript = transcript, at: int = turn, late: list[bool] = late
                ) -> None:
                    late.append(await add(place, f"{at}.late"))

                async with anyio.create_task_group() as both:
                    both.start_soon(write_late)
                    taken.append(await opened(other[0]))
                if late[0]:
                    settled.append(f"{turn}.late")
                refused += not late[0]
                holder[1].mend()
                transcript.close()
                transcript = taken[0]
            tasks.cancel_scope.cancel()
        transcript.close()
        for machine, net in sides:
            net.mend()
            await machine.store.aclose()
    return len(settled), refused, await wrong_events(folder, socket_path, settled)


async def wrong_events(folder: Path, socket_path: str, settled: list[str]) -> int:
    """Return how many events read by a new machine differ from those that were settled."""
    machine = Machine(folder / "final", socket_uri(socket_path), QUICK)
    await machine.store.sharing.fetch("ses_split")
    found = [word for word in machine.notes("ses_split") if word in set(settled)]
    await machine.store.aclose()
    different = sum(one != other for one, other in zip(found, settled, strict=False))
    return different + abs(len(found) - len(settled))


def socket_uri(socket_path: str) -> str:
    return f"postgresql://postgres@/postgres?host={os.path.dirname(socket_path)}"


async def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as place, postgres(Path(place) / "postgres") as uri:
        folder = Path(place)
        socket_path = next((folder / "postgres").glob(".s.PGSQL.*[0-9]"))
        alone = Machine(folder / "alone", None, EngineSettings())
        one, other = (Machine(folder / name, uri, EngineSettings()) for name in ("one", "other"))
        floor, shared = await settle_times(alone), await settle_times(one)
        for name, took in (("alone", floor), ("shared", shared)):
            print(f"settle, {name:8} p50 {percentile(took, 0.5):.1f} ms, p95 {percentile(took, 0.95):.1f}")
        added = percentile(shared, 0.95) - percentile(floor, 0.95)
        print(f"settle, added    p95 {added:.1f} ms (goal: at most {GOAL_SETTLE_MS})")
        took = await lags(one, other)
        late = f"p50 {percentile(took, 0.5):.1f} ms, p95 {percentile(took, 0.95):.1f}"
        print(f"follower         {len(took)} events, {late} (goal: at most {GOAL_LAG_MS})")
        for machine in (alone, one, other):
            await machine.store.aclose()
        began = time.perf_counter()
        settled, refused, wrong = await partitions(folder, str(socket_path), count)
        print(
            f"partitions   {count} in {time.perf_counter() - began:.0f} s: {settled} events settled, ", end=""
        )
        print(f"{refused} late ones rejected, {wrong} wrong")


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 200)
