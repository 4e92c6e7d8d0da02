"""Measure the CPU time of the full-screen chat for 5,000 deltas, compared with the plain chat in the same run.

Run: python -m bench.chat_stream [RUNS] [DELTAS]
"""

import statistics
import sys
from pathlib import Path

import anyio

from bench.agents import model_server, prepare, spread, surroundings
from tests.e2e.chat_terminal import CTRL_D, ENTER, chat_on_terminal

TICKS_PER_S = 100
END = "the end of it"


def cpu_s(pid: int) -> float:
    """Return the CPU time of one process, excluding its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


async def measure(base_url: str, *flags: str) -> float:
    """Return the CPU time that a chat used while an answer streamed."""
    variables = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-bench", "HERMES_MODEL": "bench-model"}
    with surroundings(**variables) as (environment, cwd):
        async with chat_on_terminal(*flags, environment=environment, cwd=Path(cwd)) as chat:
            await chat.see("bench-model")
            chat.type(f"hello{ENTER}")
            await chat.see("Hello.")
            before_s = cpu_s(chat.process.pid)
            chat.type(f"stream{ENTER}")
            await chat.see(END)
            used_s = cpu_s(chat.process.pid) - before_s
            chat.type(CTRL_D)
            await chat.end()
    return used_s


def main(runs: int, deltas: int) -> None:
    prepare()
    # A paragraph every 50 words, as in prose; the last words say that everything was drawn.
    words = [f"word{number}{chr(10) * 2 if number % 50 == 49 else ' '}" for number in range(deltas)]
    rules = [{"when": "stream", "replies": [{"text": [*words, END]}], "pick": "cycle"}]
    script = {"rules": rules, "default": [{"text": "Hello."}], "pick": "cycle"}
    plain: list[float] = []
    full: list[float] = []
    with model_server(script) as base_url:
        for _ in range(runs):
            plain.append(anyio.run(measure, base_url))
            full.append(anyio.run(measure, base_url, "--full"))
    ratio = statistics.median(full) / statistics.median(plain)
    print(f"{runs} runs each, alternating; median (min … max); {deltas:,} deltas, the chat's process only")
    print(
        f"CPU, ms   plain {spread(plain, 1e3):30} full screen {spread(full, 1e3):30} full/plain {ratio:5.2f}"
    )


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 5, numbers[1] if len(numbers) > 1 else 5000)
