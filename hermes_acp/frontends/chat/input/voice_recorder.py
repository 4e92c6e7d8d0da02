"""Record speech with a program on this machine.

Sources: the manual pages of pw-record, parecord, arecord, rec (SoX) and ffmpeg.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.frontends.chat import messages

if TYPE_CHECKING:
    from anyio.abc import Process

MIME_TYPE: Final = "audio/wav"
MAX_S: Final = 300.0
TAIL_S: Final = 0.2
"""The time to record after the stop, because programs record with a delay: the last word would be cut off."""
ENDING_TIMEOUT_S: Final = 3.0
HEADER_BYTES: Final = 44
MAX_BYTES: Final = 20 << 20
DEVICE: Final = (
    ("-f", "avfoundation", "-i", ":default") if sys.platform == "darwin" else ("-f", "alsa", "-i", "default")
)
COMMANDS: Final[Sequence[Sequence[str]]] = (
    ("pw-record", "--format", "s16", "--rate", "16000", "--channels", "1"),
    ("parecord", "--latency-msec=50", "--file-format=wav", "--format=s16le", "--rate=16000", "--channels=1"),
    ("arecord", "-q", "-f", "S16_LE", "-r", "16000", "-c", "1", "-t", "wav"),
    ("rec", "-q", "--buffer", "1024", "-c", "1", "-r", "16000", "-b", "16"),
    ("ffmpeg", "-nostdin", "-loglevel", "error", *DEVICE, "-ac", "1", "-ar", "16000", "-y"),
)
"""Programs that record to a WAV file until they are terminated; the file name is appended."""
KEEPER: Final = (
    'exec 3<&0; "$@" 3<&- & program=$!; { read -r _; kill "$program" 2>/dev/null; } <&3 & wait "$program"'
)
"""A shell script that terminates a program when its own standard input ends, so that the microphone never stays on."""


class RecordingFailed(Exception):
    """Nothing was recorded; the message says why."""


def recorders(variables: Mapping[str, str]) -> list[Sequence[str]]:
    """Return the commands of the recording programs that are installed."""
    path = variables.get("PATH", os.defpath)
    found = ((shutil.which(name, path=path), rest) for name, *rest in COMMANDS)
    return [(program, *rest) for program, rest in found if program]


async def record(variables: Mapping[str, str], stop: anyio.Event) -> bytes:
    """Record until `stop` is set, and return a WAV file. If a program fails at once, the next one is tried.

    Raises RecordingFailed. After a cancellation, nothing is kept.
    """
    why = messages.NO_RECORDER
    for command in recorders(variables):
        with tempfile.TemporaryDirectory(prefix="hermes-") as folder:
            place = Path(folder)
            if await _ran_until(stop, command, place, variables):
                return await run_sync(_content, place)
            why = messages.RECORDER_FAILED.format(
                program=os.path.basename(command[0]), complaint=await run_sync(_complaint, place)
            )
    raise RecordingFailed(why)


async def _ran_until(
    stop: anyio.Event, command: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> bool:
    """Run a program until `stop` is set or the time limit is reached; return False if it ended on its own."""
    with (folder / "errors").open("wb") as errors:
        process = await anyio.open_process(
            ["/bin/sh", "-c", KEEPER, "sh", *command, str(folder / "speech.wav")],
            stdout=DEVNULL,
            stderr=errors,
            env=variables,
            start_new_session=True,
        )
    try:
        with anyio.move_on_after(MAX_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_at_end, process, tasks.cancel_scope)
                await stop.wait()
                await anyio.sleep(TAIL_S)
                tasks.cancel_scope.cancel()
        if process.returncode is not None:
            return False
        assert process.stdin, "the process was started with a pipe"
        await process.stdin.aclose()
        with anyio.move_on_after(ENDING_TIMEOUT_S):
            await process.wait()
        return True
    finally:
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.aclose()


async def _cancel_at_end(process: "Process", scope: anyio.CancelScope) -> None:
    await process.wait()
    scope.cancel()


def _content(folder: Path) -> bytes:
    """Return the recording. Raises RecordingFailed."""
    try:
        path = folder / "speech.wav"
        if HEADER_BYTES < path.stat().st_size <= MAX_BYTES:
            return path.read_bytes()
    except OSError:
        pass
    raise RecordingFailed(messages.NOTHING_RECORDED)


def _complaint(folder: Path) -> str:
    """Return the first line that a program wrote about its failure."""
    with (folder / "errors").open("rb") as file:
        return file.readline(1000).decode("utf-8", "replace").strip() or messages.NOTHING_RECORDED
