"""Measure the tokens of the first request with the default toolset, and how much of it the second one repeats.

Tokens are counted with the embedded model's vocabulary (49,152 entries); larger vocabularies need fewer tokens.
Run: python -m bench.prompt
"""

import json
import sys
import urllib.request
from typing import Any

import anyio

from bench.agents import OURS, prepare, surroundings
from examples.demo.local_model import LocalModelServer, find_local_model, local_model_server
from tests.model_server import Reply, serve

GOAL_TOKENS = 6_000


async def main() -> None:
    prepare()
    files = find_local_model()
    if files is None:
        sys.exit("The demo's embedded model counts the tokens and is not installed. Run: make demo")
    first, second = await requests()
    async with local_model_server(files) as model:
        total = 0
        for name, text in parts(first):
            tokens = count(model, text)
            total += tokens
            print(f"{name:26} {len(text):7,} characters {tokens:6,} tokens")
    size = len(json.dumps(first))
    print(f"{'whole first request':26} {size:7,} characters {total:6,} tokens, goal {GOAL_TOKENS:,}")
    same = all(first.get(key) == value for key, value in second.items() if key != "messages")
    repeats = second["messages"][: len(first["messages"])] == first["messages"]
    print(f"the second turn's request begins with all of the first: {same and repeats}")


async def requests() -> tuple[dict[str, Any], dict[str, Any]]:
    """Run two turns of one session and return the requests to the model."""
    async with serve([Reply(text="One."), Reply(text="Two.")]) as server:
        variables = {
            "OPENAI_BASE_URL": server.openai_base_url,
            "OPENAI_API_KEY": "sk-bench",
            "HERMES_MODEL": "m",
        }
        with surroundings(**variables) as (environment, cwd):
            run = [*OURS, "run", "--cwd", cwd, "--output-format", "json", "-p"]
            done = await anyio.run_process([*run, "hello"], env=environment)
            session_id = json.loads(done.stdout)["session_id"]
            await anyio.run_process([*run, "again", "--resume", session_id], env=environment)
        return server.requests[0].body, server.requests[1].body


def parts(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the parts of a request that cost tokens, by name."""
    tools = [(f"tool {tool['function']['name']}", json.dumps(tool["function"])) for tool in body["tools"]]
    said = [(f"message of {message['role']}", str(message["content"])) for message in body["messages"]]
    return said + tools


def count(model: LocalModelServer, text: str) -> int:
    """Count tokens with the embedded model."""
    headers = {"authorization": f"Bearer {model.api_key}", "content-type": "application/json"}
    url = model.base_url.removesuffix("/v1") + "/tokenize"
    request = urllib.request.Request(url, json.dumps({"content": text}).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return len(json.load(answer)["tokens"])


if __name__ == "__main__":
    anyio.run(main)
