#!/usr/bin/env python3
"""Start hermes-acp the way each editor does, and compare its output with that editor's golden transcript.

It only needs Python 3.11, and does not touch your settings or sessions.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from functools import partial
from pathlib import Path

from checking.endpoint import MODELS, scripted_model
from checking.playing import DifferenceError, compare, record, rehearse
from checking.stage import AgentFault, Model, open_stage, started
from checking.transcripts import BrokenTranscriptError, Transcript, all_transcripts

FOLDER = Path(__file__).resolve().parent


def hold(transcript: Transcript, command: Path, *, anew: bool) -> str:
    """Run one conversation with a scripted model; return the report."""
    with scripted_model(transcript.header.model) as server:
        model = Model(server.url, MODELS[0], "sk-no-secret")
        with open_stage(transcript, model) as stage, started(transcript, stage, command) as agent:
            play = partial(record if anew else compare, transcript, stage, agent, server.listed.set)
            done = play()
    if isinstance(done, int):
        return f"{done} frames as expected"
    transcript.write(done)
    return f"recorded, {len(done)} lines"


def hold_freely(transcript: Transcript, command: Path, model: Model) -> str:
    """Run one conversation with the user's own model; return the report."""
    with open_stage(transcript, model) as stage, started(transcript, stage, command) as agent:
        return f"{rehearse(transcript, stage, agent)} frames, the turn ended normally"


def find_command(given: str | None) -> Path:
    """Find the agent: the given command, or one on the PATH or next to the Python that runs this script."""
    beside = Path(sys.executable).with_name("hermes-acp")
    found = shutil.which(given or "hermes-acp") or (str(beside) if not given and beside.exists() else None)
    if found is None:
        sys.exit(f"{given or 'hermes-acp'} was not found; pass its location with --command.")
    return Path(os.path.abspath(found))


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="check.py",
        description="Start hermes-acp as each editor does and compare its output with golden transcripts.",
        epilog="With --model-url, the text is that model's, so only success is checked, not each frame.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders of editors (default: all)")
    parser.add_argument("--command", help="the hermes-acp to check (default: the one on the PATH)")
    parser.add_argument(
        "--model-url", help="an OpenAI-compatible endpoint to use instead of the scripted one"
    )
    parser.add_argument("--model", default=MODELS[0], help="the model to request from the endpoint")
    parser.add_argument(
        "--key-variable", default="OPENAI_API_KEY", help="the environment variable with its key"
    )
    parser.add_argument("--record", action="store_true", help="record what the agent sends now")
    return parser.parse_args()


def main() -> int:
    """Run the requested checks; return the exit code."""
    arguments = read_arguments()
    transcripts = {transcript.name: transcript for transcript in all_transcripts(FOLDER)}
    if unknown := set(arguments.names) - transcripts.keys():
        sys.exit(f"There is no check for {', '.join(sorted(unknown))}; there are {', '.join(transcripts)}.")
    command = find_command(arguments.command)
    failed = 0
    for name in arguments.names or transcripts:
        try:
            if arguments.model_url:
                key = os.environ.get(arguments.key_variable, "none")
                said = hold_freely(
                    transcripts[name], command, Model(arguments.model_url, arguments.model, key)
                )
            else:
                said = hold(transcripts[name], command, anew=arguments.record)
            print(f"{name:<10} ok      {said}", flush=True)
        except (DifferenceError, AgentFault, BrokenTranscriptError, TimeoutError) as fault:
            failed += 1
            print(f"{name:<10} FAILED  {fault}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenTranscriptError as fault:
        sys.exit(str(fault))
