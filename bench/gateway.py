"""Measure the gateway on an in-memory platform: the time from a message to the first word of its answer, warm.

Run: python -m bench.gateway [MESSAGES]
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import anyio

from bench.agents import prepare, spread
from tests.gateway.gateway_stage import gateway_stage
from tests.model_server import Reply, Script, serve

WORDS = 40
GAP_S = 0.02


async def measure(messages: int) -> list[float]:
    """Return the seconds from each message until the first part of its answer is shown."""
    words = tuple(f"word{number} " for number in range(WORDS))
    script = Script((Reply(words, delay_s=GAP_S),), pick="cycle")
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with serve(script) as model, gateway_stage(Path(folder), model) as stage:
            anna = stage.direct("anna")
            for number in range(messages + 1):
                began = perf_counter()
                await anna.send("Count")

                def is_shown(number: int = number) -> bool:
                    return len(stage.server.posts) > number

                await stage.server.until(is_shown)
                found.append(perf_counter() - began)
                await stage.server.until(lambda: f"word{WORDS - 1}" in stage.server.posts[-1].text)
    return found[1:]  # the first starts the agent


def main(messages: int) -> None:
    prepare()
    found = anyio.run(measure, messages)
    print(f"{messages} messages to a warm agent; median (min … max); goal: 300 ms")
    print(f"first word, ms   {spread(found, 1e3)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
