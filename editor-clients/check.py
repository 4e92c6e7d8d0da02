#!/usr/bin/env python3
"""Starts hermes-acp the way each editor starts it, and compares its output with that editor's golden transcript.

It needs Python 3.11 and nothing else, and does not touch your settings and sessions.
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
        return f"{done} frames as they should be"
    transcript.write(done)
    return f"recorded, {len(done)} lines"


def hold_freely(transcript: Transcript, command: Path, model: Model) -> str:
    """Run one conversation with a given model; return the report."""
    with open_stage(transcript, model) as stage, started(transcript, stage, command) as agent:
        return f"{rehearse(transcript, stage, agent)} frames, the turn came to its end"


def find_command(given: str | None) -> Path:
    """Find the agent: as given, on the PATH, or beside the Python that runs this."""
    beside = Path(sys.executable).with_name("hermes-acp")
    found = shutil.which(given or "hermes-acp") or (str(beside) if not given and beside.exists() else None)
    if found is None:
        sys.exit(f"{given or 'hermes-acp'} is not found; say where it is with --command.")
    return Path(os.path.abspath(found))


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="check.py",
        description="Start hermes-acp as each editor would and compare its answers with golden transcripts.",
        epilog="With --model-url the words are that model's, so only success is checked, not each frame.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders of editors; none for all")
    parser.add_argument("--command", help="the hermes-acp to check; found on the PATH without it")
    parser.add_argument(
        "--model-url", help="an OpenAI-compatible endpoint to use in place of the scripted one"
    )
    parser.add_argument("--model", default=MODELS[0], help="the model to ask for there")
    parser.add_argument("--key-variable", default="OPENAI_API_KEY", help="the variable that holds its key")
    parser.add_argument("--record", action="store_true", help="write down what the agent says now")
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
