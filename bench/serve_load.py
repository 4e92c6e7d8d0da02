"""Measure `hermes-acp serve` under load: many idle connected sessions, and many concurrent streams.

Run: python -m bench.serve_load [--idle SESSIONS] [--streaming SESSIONS [--late SESSIONS]] [--seconds S]
     [--profile FILE]
Late sessions send prompts one after another while the others stream, and their time to the first word is measured. The
clients, the model and the server are separate processes; the server's memory and CPU time are read from /proc. The
floor is a bare asyncio relay that sends the same deltas through the same sockets. Every text is verified.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from bench.agents import ROOT, prepare, surroundings
from bench.serving.steady_model import words
from hermes_acp.storage.descriptor_limit import raise_limit

TOKEN = "a-token-of-the-benchmark"
DELTAS_PER_S = 50
SETTLE_S = 4.0
GOAL_IDLE_MIB, GOAL_IDLE_CPU, GOAL_STREAM_CPU = 450, 0.01, 0.70
GOAL_LATE_MS = 150.0


class Load(Struct):
    """The number of streaming sessions, the deltas for each, the duration of the measurement, and the late sessions."""

    sessions: int
    deltas: int
    seconds: float
    late: int


class Watched:
    """A server process and its figures from /proc."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process = process
        self.port = port

    def cpu_s(self) -> float:
        """Return the CPU time used so far, user and system."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mib(self) -> float:
        """Return the current resident memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) / 1024

    def descriptors(self) -> int:
        """Return the number of open descriptors."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def share_of_core(self, seconds: float) -> float:
        """Return the share of one core that the process uses over a period."""
        cpu_s, started_s = self.cpu_s(), time.perf_counter()
        time.sleep(seconds)
        return (self.cpu_s() - cpu_s) / (time.perf_counter() - started_s)


class Clients:
    """The client process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def order(self, line: str) -> dict[str, Any]:
        """Send a command and return its result."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        seen = self._process.stdout.readline()
        if not seen:
            raise RuntimeError(f"the clients ended at: {line}")
        return json.loads(seen)


@contextmanager
def started(*command: str, **options: Any) -> "Generator[subprocess.Popen[str]]":
    """Yield a process with pipes; its input is closed at the end of the block."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, **options
    )
    assert process.stdin
    try:
        yield process
    finally:
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Model:
    """The model process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout
        self._process = process
        self.port = int(process.stdout.readline())

    def order(self, line: str) -> None:
        """Release the streams, or hold back new ones."""
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()


@contextmanager
def model(deltas: int) -> Generator[Model]:
    """Start and yield the model."""
    script = str(ROOT / "bench/serving/steady_model.py")
    with started(sys.executable, script, str(deltas), str(1 / DELTAS_PER_S)) as process:
        yield Model(process)


@contextmanager
def relay(model_port: int) -> Generator[Watched]:
    """Start and yield the floor relay."""
    with started(sys.executable, str(ROOT / "bench/serving/floor_relay.py"), str(model_port)) as process:
        assert process.stdout
        yield Watched(process, int(process.stdout.readline()))


@contextmanager
def server(model_port: int, profile: str | None) -> Generator[Watched]:
    """Start and yield `hermes-acp serve` with a fresh home folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{model_port}/v1"
    variables = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-bench", "HERMES_MODEL": "m"}
    with surroundings(**variables, HERMES_SERVE_TOKEN=TOKEN) as (environment, _):
        profiled = ("-m", "cProfile", "-o", profile) if profile else ()
        command = (sys.executable, *profiled, "-m", "hermes_acp", "serve", "--listen", f"127.0.0.1:{port}")
        with started(*command, env=environment, stderr=subprocess.PIPE) as process:
            assert process.stderr
            process.stderr.readline()
            yield Watched(process, port)
            process.terminate()
            process.wait(30)


@contextmanager
def clients(watched: Watched) -> Generator[Clients]:
    """Start and yield the clients of a server, in an empty workspace."""
    with surroundings() as (_, workspace):
        script = str(ROOT / "bench/serving/socket_clients.py")
        with started(sys.executable, script, str(watched.port), TOKEN, workspace) as process:
            yield Clients(process)


def measure_idle(watched: Watched, sessions: int, seconds: float, name: str) -> tuple[float, float]:
    """Connect idle sessions; return the server's memory in MiB and its share of a core."""
    before_mib = watched.rss_mib()
    with clients(watched) as driver:
        wall_s = driver.order(f"open {sessions}")["wall_s"]
        time.sleep(SETTLE_S)
        share = watched.share_of_core(seconds)
        mib = watched.rss_mib()
        print(
            f"{name:8} {sessions:5} idle sessions: RSS {mib:6.1f} MiB (before them {before_mib:.1f}; "
            f"{(mib - before_mib) * 1024 / sessions:.0f} KiB each)  CPU {share:6.2%} of a core  "
            f"descriptors {watched.descriptors()}  opened in {wall_s:.1f} s",
            file=sys.stderr,
        )
        return mib, share


def measure_streaming(watched: Watched, speaker: Model, load: Load, name: str) -> float:
    """Let sessions stream concurrently; return the CPU time per delta, in seconds."""
    sessions, deltas = load.sessions, load.deltas
    with clients(watched) as driver:
        driver.order(f"open {sessions}")
        speaker.order("wait")
        driver.order("prompt")
        speaker.order("go")
        time.sleep(SETTLE_S / 2)
        before, started_s = driver.order("count"), time.perf_counter()
        share = watched.share_of_core(load.seconds)
        after, ended_s = driver.order("count"), time.perf_counter()
        if load.late:
            show_late(driver.order(f"late {load.late}")["waits_s"], name)
        seen = driver.order("finish")
    expected = {
        str(n): "".join(words(n, place) for place in range(deltas)) for n in range(sessions + load.late)
    }
    if seen["stops"] != ["end_turn"] or seen["said"] != expected:
        wrong = sum(seen["said"].get(n) != text for n, text in expected.items())
        raise RuntimeError(f"{wrong} texts arrived altered; stop reasons: {seen['stops']}")
    arrived = after["deltas"] - before["deltas"]
    rate = arrived / (ended_s - started_s)
    a_delta_s = share / rate
    print(
        f"{name:8} {sessions:5} sessions: {rate:6.0f} of {sessions * DELTAS_PER_S} deltas/s arrived  "
        f"CPU {share:6.1%} of a core, {a_delta_s * 1e6:5.1f} µs a delta  RSS {watched.rss_mib():.1f} MiB  "
        f"{(after['frames'] - before['frames']) / (ended_s - started_s) / sessions:.1f} frames/s a session",
        file=sys.stderr,
    )
    return a_delta_s


def show_late(waits_s: list[float], name: str) -> None:
    """Print how long late sessions waited for their first word."""
    ordered = sorted(wait_s * 1000 for wait_s in waits_s)
    p50, p95 = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
    print(
        f"{name:8} {len(ordered):5} late sessions: first word p50 {p50:.0f} ms, p95 {p95:.0f} ms "
        f"(goal {GOAL_LATE_MS:.0f})",
        file=sys.stderr,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--streaming", type=int, default=300)
    parser.add_argument("--late", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--profile", metavar="FILE")
    options = parser.parse_args()
    raise_limit()
    prepare()
    deltas = round((options.seconds + SETTLE_S + 4 + options.late / 5) * DELTAS_PER_S)
    print(
        f"goals: idle ≤ {GOAL_IDLE_MIB} MiB, ≤ {GOAL_IDLE_CPU:.0%}; streaming ≤ {GOAL_STREAM_CPU:.0%} of a core"
    )
    with model(deltas) as speaker:
        if options.idle:
            with server(speaker.port, options.profile) as watched:
                measure_idle(watched, options.idle, options.seconds, "ours")
        if options.streaming:
            load = Load(options.streaming, deltas, options.seconds, options.late)
            with relay(speaker.port) as watched:
                floor = measure_streaming(watched, speaker, load, "floor")
            with server(speaker.port, options.profile) as watched:
                ours = measure_streaming(watched, speaker, load, "ours")
            print(f"streaming, CPU a delta: ours/floor {ours / floor:.2f}")


if __name__ == "__main__":
    main()
