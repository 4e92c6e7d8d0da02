"""Compare the vendors' packages with our providers: import time, a cold process, and 5,000 deltas.

Run: `python -m bench.providers`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

import anyio
from msgspec import Struct

from bench.memory import read_peak_mib

DELTAS = 5_000
ROUNDS = 7
ROOT = Path(__file__).parents[1]
LEAVES = (
    ("openai_compatible", "openai"),
    ("openai_responses", "openai"),
    ("anthropic", "anthropic"),
    ("gemini", "google.genai"),
    ("bedrock", "botocore.session"),
)
"""Each of our provider modules, and the vendor's module that does the same."""
WORD = "word "


class Cost(Struct, frozen=True):
    """The CPU and wall time in seconds, the memory in MiB if measured, and the number of fragments."""

    cpu_s: float
    wall_s: float
    memory_mib: float = 0.0
    pieces: int = 0


def take_median(costs: list[Cost]) -> Cost:
    """Return the median of each column."""
    columns = zip(*((cost.cpu_s, cost.wall_s, cost.memory_mib, cost.pieces) for cost in costs), strict=True)
    cpu_s, wall_s, memory_mib, pieces = (statistics.median(column) for column in columns)
    return Cost(cpu_s, wall_s, memory_mib, int(pieces))


def measure_process(*arguments: str) -> Cost:
    """Run this module as a child process, which prints its CPU time and peak memory at the end."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "bench.providers", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    wall_s = time.perf_counter() - begun
    cpu_s, memory_mib = json.loads(done.stdout)
    return Cost(cpu_s, wall_s, memory_mib)


def measure_import(module: str) -> Cost:
    """Measure an import in a new process that has loaded nothing else."""
    source = (
        "import time\n"
        "from bench.memory import read_peak_mib\n"
        "mib, cpu, wall = read_peak_mib(), time.process_time(), time.perf_counter()\n"
        f"import {module}\n"
        "print([time.process_time() - cpu, time.perf_counter() - wall, read_peak_mib() - mib])"
    )
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return Cost(*json.loads(done.stdout))


@contextmanager
def scripted_server() -> Generator[int]:
    """Run the scripted model server in a separate process; return its port."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps({"default": [{"text": [WORD] * DELTAS}], "pick": "cycle"}))
        command = [sys.executable, "-m", "tests.model_server", "--script", str(script)]
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout is not None
                yield int(process.stdout.readline().rpartition(":")[2])
            finally:
                process.terminate()


def base_url(leaf: str, port: int) -> str:
    """Return the base URL that each client needs."""
    suffix = {"anthropic": "", "bedrock": "", "gemini": "/v1beta"}.get(leaf, "/v1")
    return f"http://127.0.0.1:{port}{suffix}"


async def read_ours(leaf: str, url: str, *, first_only: bool = False) -> int:
    """Read one answer through our provider; return the number of fragments."""
    from hermes_acp.core.messages import ModelRequest, TextFragment, TextPart, UserMessage
    from hermes_acp.models.providers import PROVIDERS
    from hermes_acp.models.wire.endpoints import Endpoint

    connection = PROVIDERS.open(leaf).connect(Endpoint(url, "key"))
    text: list[str] = []
    async with connection.stream(ModelRequest("m", (), (UserMessage((TextPart("hi"),)),))) as events:
        async for event in events:
            if isinstance(event, TextFragment):
                text.append(event.text)
                if first_only:
                    break
    await connection.aclose()
    assert first_only or "".join(text) == WORD * DELTAS
    return len(text)


async def read_openai(url: str, *, first_only: bool = False) -> int:
    """Read one answer through the `openai` package."""
    import openai

    text: list[str] = []
    async with openai.AsyncOpenAI(api_key="key", base_url=url, max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "hi"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in stream:
            if chunk.choices and (words := chunk.choices[0].delta.content):
                text.append(words)
                if first_only:
                    break
    assert first_only or "".join(text) == WORD * DELTAS
    return len(text)


async def read_anthropic(url: str, *, first_only: bool = False) -> int:
    """Read one answer through the `anthropic` package's raw event stream, the lighter of its two interfaces."""
    import anthropic

    text: list[str] = []
    async with anthropic.AsyncAnthropic(api_key="key", base_url=url, max_retries=0) as client:
        stream = await client.messages.create(
            model="m", max_tokens=50, messages=[{"role": "user", "content": "hi"}], stream=True
        )
        async for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                text.append(event.delta.text)
                if first_only:
                    break
    assert first_only or "".join(text) == WORD * DELTAS
    return len(text)


async def read_responses(url: str, *, first_only: bool = False) -> int:
    """Read one answer through the raw event stream of the `openai` package's Responses API."""
    import openai

    text: list[str] = []
    async with openai.AsyncOpenAI(api_key="key", base_url=url, max_retries=0) as client:
        stream = await client.responses.create(model="m", input="hi", stream=True, store=False)
        async for event in stream:
            if event.type == "response.output_text.delta":
                text.append(event.delta)
                if first_only:
                    break
    assert first_only or "".join(text) == WORD * DELTAS
    return len(text)


async def read_gemini(url: str, *, first_only: bool = False) -> int:
    """Read one answer through the `google-genai` package."""
    genai = cast("Any", import_module("google.genai"))
    types = cast("Any", import_module("google.genai.types"))
    text: list[str] = []
    options = types.HttpOptions(base_url=url.removesuffix("/v1beta"))
    client = genai.Client(api_key="key", http_options=options)
    models = client.aio.models
    stream = await models.generate_content_stream(model="m", contents="hi")
    async for chunk in stream:
        if words := chunk.text:
            text.append(words)
            if first_only:
                break
    await stream.aclose()
    client.close()
    assert first_only or "".join(text) == WORD * DELTAS
    return len(text)


async def read_bedrock(url: str, *, first_only: bool = False) -> int:
    """Read one answer through the `botocore` package, which blocks."""
    session = cast("Any", import_module("botocore.session")).get_session()
    client = session.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
        aws_secret_access_key="secret",
    )
    text: list[str] = []
    answer = client.converse_stream(modelId="m", messages=[{"role": "user", "content": [{"text": "hi"}]}])
    for event in answer["stream"]:
        if words := event.get("contentBlockDelta", {}).get("delta", {}).get("text"):
            text.append(words)
            if first_only:
                break
    client.close()
    assert first_only or "".join(text) == WORD * DELTAS
    return len(text)


class ReadAnswer(Protocol):
    """A function that reads one answer through one vendor's package."""

    def __call__(self, url: str, *, first_only: bool = False) -> Awaitable[int]: ...


OFFICIAL: Final[Mapping[str, ReadAnswer]] = MappingProxyType(
    {
        "openai_compatible": read_openai,
        "openai_responses": read_responses,
        "anthropic": read_anthropic,
        "gemini": read_gemini,
        "bedrock": read_bedrock,
    }
)


async def read_bytes(leaf: str, url: str) -> int:
    """Read only one answer's bytes, as the floor of the HTTP client that all packages share."""
    import ssl

    import httpx2

    words = {"role": "user", "content": "hi"}
    asked: dict[str, tuple[str, dict[str, object]]] = {
        "openai_compatible": ("/chat/completions", {"model": "m", "stream": True, "messages": [words]}),
        "openai_responses": ("/responses", {"model": "m", "stream": True, "input": "hi"}),
        "anthropic": ("/v1/messages", {"model": "m", "max_tokens": 50, "stream": True, "messages": [words]}),
        "gemini": ("/models/m:streamGenerateContent?alt=sse", {"contents": [{"parts": [{"text": "hi"}]}]}),
        "bedrock": (
            "/model/m/converse-stream",
            {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        ),
    }
    path, body = asked[leaf]
    headers = {"anthropic-version": "2023-06-01"}
    count = 0
    async with (
        httpx2.AsyncClient(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)) as client,
        client.stream("POST", url + path, json=body, headers=headers) as response,
    ):
        async for _ in response.aiter_bytes():
            count += 1
    return count


async def measure(read: Callable[[], Awaitable[int]]) -> Cost:
    """Measure reading one answer in this process."""
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    pieces = await read()
    return Cost(time.process_time() - cpu_s, time.perf_counter() - wall_s, 0.0, pieces)


async def measure_deltas(leaf: str, port: int) -> dict[str, Cost]:
    """Read the same stream through all packages in turn, so that noise affects all equally."""
    url = base_url(leaf, port)
    official = OFFICIAL[leaf]
    readers: dict[str, Callable[[], Awaitable[int]]] = {
        "package": lambda: official(url),
        "ours": lambda: read_ours(leaf, url),
        "bytes only": lambda: read_bytes(leaf, url),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in readers}
    for turn in range(ROUNDS + 1):
        for name, read in readers.items():
            cost = await measure(read)
            if turn:
                costs[name].append(cost)
    return {name: take_median(each) for name, each in costs.items()}


def print_table(title: str, rows: dict[str, Cost], peer: str, ours: str) -> None:
    """Print rows side by side and the ratio of two of them."""
    sys.stdout.write(f"\n{title}\n{'':34}{'CPU ms':>9}{'wall ms':>9}{'MiB':>7}{'pieces':>8}\n")
    for name, cost in rows.items():
        figures = f"{cost.cpu_s * 1000:9.1f}{cost.wall_s * 1000:9.1f}{cost.memory_mib:7.1f}{cost.pieces:8d}"
        sys.stdout.write(f"{name:34}{figures}\n")
    cpu, wall = rows[peer].cpu_s / rows[ours].cpu_s, rows[peer].wall_s / rows[ours].wall_s
    sys.stdout.write(f"{peer} / {ours}: CPU {cpu:.1f} x, wall {wall:.1f} x\n")


def run_cold(side: str, leaf: str, url: str) -> None:
    """Run as the child process of `measure_process`: import, connect, read the first word, and print the cost."""
    if side == "ours":
        anyio.run(lambda: read_ours(leaf, url, first_only=True))
    else:
        anyio.run(lambda: OFFICIAL[leaf](url, first_only=True))
    sys.stdout.write(json.dumps([time.process_time(), read_peak_mib()]))


def main() -> None:
    """Run all measurements and print them."""
    if len(sys.argv) > 1:
        run_cold(*sys.argv[1:4])
        return
    with scripted_server() as port:
        for leaf, package in LEAVES:
            ours = f"hermes_acp.models.providers.{leaf}"
            modules = (package, f"{ours}, httpx2", ours)
            imports = {name: take_median([measure_import(name) for _ in range(ROUNDS)]) for name in modules}
            print_table(f"import, {leaf}", imports, package, modules[1])
            cold = {
                side: take_median([measure_process(side, leaf, base_url(leaf, port)) for _ in range(ROUNDS)])
                for side in ("package", "ours")
            }
            print_table(f"cold process to its first word, {leaf}", cold, "package", "ours")
            deltas = anyio.run(measure_deltas, leaf, port)
            print_table(f"{DELTAS} deltas, {leaf}", deltas, "package", "ours")
            for name in ("package", "ours"):
                sys.stdout.write(f"{name}: {deltas[name].cpu_s / DELTAS * 1e6:.1f} µs CPU a delta\n")


if __name__ == "__main__":
    main()
