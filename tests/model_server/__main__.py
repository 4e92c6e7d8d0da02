"""The scripted model server as a process: `python -m tests.model_server --script FILE.json`.

While it runs, `POST /_gates/NAME` opens a gate of the script and `GET /_log` returns what was received.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

import anyio
import anyio.lowlevel

from .script import load_script
from .server import serve


async def run(arguments: argparse.Namespace) -> None:
    """Serve until told to stop."""
    script = load_script(arguments.script)
    async with serve(script, port=arguments.port, is_strict=not arguments.lenient) as server:
        if arguments.port_file is not None:
            draft = arguments.port_file.with_name(arguments.port_file.name + ".new")
            draft.write_text(f"{server.port}\n")
            draft.replace(arguments.port_file)
        sys.stdout.write(f"listening {server.anthropic_base_url}\n")
        sys.stdout.flush()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_on_signal, tasks.cancel_scope)
            if not arguments.ignore_stdin:
                tasks.start_soon(_end_on_stdin, tasks.cancel_scope)


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()


async def _end_on_stdin(scope: anyio.CancelScope) -> None:
    descriptor = sys.stdin.fileno()
    while True:
        try:
            await anyio.wait_readable(descriptor)
        except PermissionError:
            # A plain file or /dev/null cannot be polled; it is always readable.
            await anyio.lowlevel.checkpoint()
        if not os.read(descriptor, 65536):
            scope.cancel()
            return


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.model_server", description="Answer model requests by script."
    )
    parser.add_argument(
        "--script", type=Path, required=True, help="JSON file; see tests/model_server/script.py"
    )
    parser.add_argument("--port", type=int, default=0, help="loopback port, 0 for a free one")
    parser.add_argument("--port-file", type=Path, default=None, help="file to write the port into")
    parser.add_argument(
        "--lenient", action="store_true", help="do not refuse requests the vendors would refuse"
    )
    parser.add_argument("--ignore-stdin", action="store_true", help="do not end when stdin ends")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
