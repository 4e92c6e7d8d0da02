"""Change one word of a file through an agent process that asks first; print the number of bytes that it sent.

Run by `bench.growth_rows.edits`: probe_edit.py FILE whole|hunks
"""

import json
import os
import sys
from pathlib import Path

from bench.agents import OURS, Agent, scripted_surroundings


def step(name: str, **arguments: object) -> dict[str, object]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def main(path: Path, manner: str) -> None:
    name = str(path)
    replies = [
        step("read_file", path=name, limit=1),
        step("edit_file", path=name, old_text="the word", new_text="one word"),
        {"text": "Done."},
    ]
    script = {"rules": [{"when": "go", "pick": "step", "replies": replies}], "default": [{"text": "Hello."}]}
    with scripted_surroundings(script) as (environment, _):
        agent = Agent(OURS, {**environment, "PYTHONPATH": os.environ["PYTHONPATH"]})
        meta = {"hermes": {"edits": True, "diffHunks": True}} if manner == "hunks" else {}
        agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {"_meta": meta}})
        session_id = agent.call("session/new", {"cwd": str(path.parent), "mcpServers": []})["sessionId"]
        before = agent.read_bytes
        agent.prompt(session_id, "go")
        print(json.dumps({"bytes": agent.read_bytes - before}))
        agent.close()
    if not path.read_text().startswith("one word"):
        raise RuntimeError("the edit was not made")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
