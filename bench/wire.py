"""Measure sending and receiving 50,000 message chunks with our peer and the official SDKs in the same run.

Run: python -m bench.wire [--count 50000] [--runs 5] [--cache FOLDER]

The SDKs are installed with pip and npm into the cache folder, or into a temporary one; npm and Node are required. "Out"
is an agent's cost to build, encode and write a chunk to a drained pipe, awaited one by one or in bursts of a thousand.
"In" is an editor's cost to read it as a typed object. CPU time covers all threads, without process start-up; each
measurement runs in a separate process, and every text is verified.
"""

import argparse
import compileall
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from bench.agents import ROOT

PYTHON_SDK: Final = "agent-client-protocol>=0.12,<0.13"
TYPESCRIPT_SDK: Final = "@agentclientprotocol/sdk@2.4.0"
PROGRAMS: Final = ROOT / "bench" / "peers"
MODES: Final = {"each": "out, one by one", "burst": "out, in bursts", "in": "in, typed"}
GOAL_CPU_US: Final = 5.0
WAIT_S: Final = 300


class Peer(Struct, frozen=True):
    """One library: how and where its program is started."""

    name: str
    command: tuple[str, ...]
    folder: Path


class Cost(Struct, frozen=True):
    """The cost of one run of one peer."""

    cpu_us: float
    per_second: float


def install_python_sdk(folder: Path) -> Path:
    """Create an environment with the SDK unless it exists; return its Python."""
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", PYTHON_SDK, "anyio>=4.12"], check=True)
        (folder / ".installed").touch()
    return python


def install_typescript_sdk(folder: Path) -> None:
    """Install the SDK with npm, unless it is installed."""
    if not (folder / ".installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run([*command, TYPESCRIPT_SDK], check=True)
        (folder / ".installed").touch()


def list_peers(cache: Path) -> list[Peer]:
    """Return our peer first, then the SDKs, installed and compiled."""
    for folder in (ROOT / "protocol" / "hermes_protocol", PROGRAMS):
        compileall.compile_dir(folder, quiet=2)
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        raise SystemExit("node and npm are needed to run the TypeScript SDK; install Node.js and try again")
    python = install_python_sdk(cache / "python")
    install_typescript_sdk(cache / "node")
    return [
        Peer("ours", (sys.executable, str(PROGRAMS / "ours.py")), ROOT),
        Peer("Python SDK", (str(python), str(PROGRAMS / "python_sdk.py")), cache),
        Peer("TypeScript SDK", (node, str(PROGRAMS / "typescript_sdk.mjs")), cache / "node"),
    ]


def chunk_text(number: int) -> str:
    return f"chunk {number} of a steady answer. "


def encode_conversation(count: int) -> bytes:
    """Write the chunks as any agent sends them."""

    def frame(number: int) -> Mapping[str, object]:
        content = {"type": "text", "text": chunk_text(number)}
        update = {"sessionUpdate": "agent_message_chunk", "content": content, "messageId": "message-1"}
        params = {"sessionId": "session-1", "update": update}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    lines = (json.dumps(frame(number), separators=(",", ":")) for number in range(count))
    return "".join(f"{line}\n" for line in lines).encode()


def read_texts(output: bytes) -> list[str]:
    """Return the text of every chunk in a peer's output."""
    updates: list[Any] = [json.loads(line)["params"]["update"] for line in output.splitlines()]
    return [update["content"]["text"] for update in updates if update["messageId"] == "message-1"]


def run_peer(peer: Peer, mode: str, count: int, conversation: bytes) -> Cost:
    """Run one program until it ends, verify what it sent or read, and return its cost."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*peer.command, mode, str(count)], cwd=peer.folder, stdin=pipe, stdout=pipe, stderr=pipe
    )
    timer = threading.Timer(WAIT_S, process.kill)
    timer.start()
    try:
        if mode == "in":
            output, errors = process.communicate(conversation)
        else:
            # Keep its input open, because end of file would end the connection.
            assert process.stdout
            assert process.stderr
            lines = [process.stdout.readline() for _ in range(count)]
            output = b"".join(lines)
            errors = process.stderr.read()
            process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
    report = errors.decode().splitlines()[-1:] or ["nothing"]
    if process.returncode != 0 or not report[0].startswith("{"):
        raise RuntimeError(f"{peer.name} failed at {mode}: {errors.decode()}")
    costs = json.loads(report[0])
    texts = [chunk_text(number) for number in range(count)]
    is_whole = costs["characters"] == len("".join(texts)) if mode == "in" else read_texts(output) == texts
    if not is_whole:
        raise RuntimeError(f"{peer.name} lost or changed chunks at {mode}")
    return Cost(costs["cpu_s"] / count * 1e6, count / costs["wall_s"])


def print_table(mode: str, costs: Mapping[str, Sequence[Cost]]) -> None:
    """Print the medians of one mode and their ratio to ours."""
    print(f"\n{MODES[mode]:18} CPU µs/chunk (min … max)              /ours   chunks/s")
    ours_us = statistics.median(cost.cpu_us for cost in costs["ours"])
    for name, runs in costs.items():
        cpu_us = sorted(cost.cpu_us for cost in runs)
        median_us = statistics.median(cpu_us)
        per_second = statistics.median(cost.per_second for cost in runs)
        spread = f"{median_us:7.2f} ({cpu_us[0]:.2f} … {cpu_us[-1]:.2f})"
        print(f"  {name:16} {spread:34} {median_us / ours_us:7.1f} {per_second:10,.0f}")


def compare(cache: Path, count: int, runs: int) -> None:
    """Measure every peer in turn and print one table per mode."""
    peers = list_peers(cache)
    conversation = encode_conversation(count)
    size_bytes = len(conversation) / count
    print(
        f"{count:,} agent_message_chunk of {size_bytes:.0f} bytes; median of {runs} runs, peers alternating"
    )
    for mode in MODES:
        costs: dict[str, list[Cost]] = {peer.name: [] for peer in peers}
        for _ in range(runs):
            for peer in peers:
                costs[peer.name].append(run_peer(peer, mode, count, conversation))
        print_table(mode, costs)
        if mode == "burst":
            ours_us = statistics.median(cost.cpu_us for cost in costs["ours"])
            print(
                f"  goal for ours: at most {GOAL_CPU_US} µs: {'met' if ours_us <= GOAL_CPU_US else 'MISSED'}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare our peer with the official SDKs.")
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cache", type=Path, help="the folder in which the SDKs are installed and kept")
    options = parser.parse_args()
    if options.cache:
        compare(options.cache.resolve(), options.count, options.runs)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(Path(folder), options.count, options.runs)


if __name__ == "__main__":
    main()
