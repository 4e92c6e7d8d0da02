"""Re-record golden transcripts: `python -m tests.golden.record [NAME…]`, where NAME is part of a file's path.

A new transcript is a header, the client's lines, and `{"from": "agent"}` wherever the client should wait.
"""

import argparse
import tempfile
from pathlib import Path

import anyio

from tests.conversations.app_scene import Scene
from tests.golden.app_stage import app_stage
from tests.golden.replay import record
from tests.golden.transcript import FOLDER, all_transcripts, read_transcript


async def record_all(paths: list[Path], quiet_s: float) -> None:
    """Record each transcript with its own app."""
    for path in paths:
        transcript = read_transcript(path)
        with tempfile.TemporaryDirectory() as place:
            scene = Scene(Path(place).resolve())
            async with app_stage(scene, transcript.header) as (wire, stage):
                lines = await record(transcript, wire, stage, quiet_s)
        transcript.write(lines)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record", description="Record again.")
    parser.add_argument("names", nargs="*", help="parts of the paths of those to record; none for all")
    parser.add_argument(
        "--quiet-s", type=float, default=0.4, help="how long the agent is listened to in vain"
    )
    arguments = parser.parse_args()
    paths = [
        path
        for path in all_transcripts()
        if not arguments.names or any(name in str(path.relative_to(FOLDER)) for name in arguments.names)
    ]
    anyio.run(record_all, paths, arguments.quiet_s)


if __name__ == "__main__":
    main()
