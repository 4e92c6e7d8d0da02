"""Run one prompt without an editor and react to its outcome: `python examples/headless.py FOLDER PROMPT…`.

It reads the events and the exit code of `hermes-acp run`.
"""

import json
import subprocess
import sys
from typing import Any


def main() -> int:
    """Show the answer and the changed files as they arrive; return the run's exit code."""
    if len(sys.argv) < 3:
        print("usage: headless.py FOLDER PROMPT…", file=sys.stderr)
        return 2
    folder, prompt = sys.argv[1], " ".join(sys.argv[2:])
    command = ["hermes-acp", "run", "--cwd", folder, "--mode", "accept_edits"]
    command += ["--output-format", "stream-json", "-p", prompt]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        for line in run.stdout:
            show(json.loads(line))
    return run.returncode


def show(event: dict[str, Any]) -> None:
    """Print the answer, the changed files and the outcome."""
    match event:
        case {"type": "text_said", "text": text}:
            print(text, end="", flush=True)
        case {"type": "call_ended", "diffs": [_, *_] as diffs, "status": "completed"}:
            print(f"\n[changed: {', '.join(diff['path'] for diff in diffs)}]")
        case {"type": "result", "reason": reason, "steps": steps}:
            print(f"\n[{reason} after {steps} steps]")
        case _:
            pass


if __name__ == "__main__":
    sys.exit(main())
