"""Test this version: start it as an editor does, and run one turn with a scripted model in a separate home folder.

An update runs this module from the version that it installed, so the trial always knows that version's tools and
settings.
"""

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import ByteReceiveStream
from msgspec import Struct

from hermes_acp.updates.scripted_endpoint import MODEL, scripted_endpoint
from hermes_acp.updates.update_errors import UpdateFailed

TIMEOUT_S: Final = 120.0
FILE: Final = "note.txt"
PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "LD_PRELOAD")
"""Variables that are passed on; all others could lead to the user's own model, keys and sessions."""
MAX_REPORTED: Final = 600
COMMAND: Final = (sys.executable, "-P", "-m", "hermes_acp")
"""The command of this environment."""


class _Agent(Struct, frozen=True):
    version: str = ""


class _Greeting(Struct, frozen=True, rename="camel"):
    agent_info: _Agent = _Agent()


class _Answer(Struct, frozen=True):
    result: _Greeting | None = None


class _Report(Struct, frozen=True):
    exit_code: int = -1
    text: str = ""
    error: str = ""


async def try_version(variables: Mapping[str, str], version: str) -> None:
    """Start this version and run one turn. Raises UpdateFailed if either fails."""
    with tempfile.TemporaryDirectory(prefix="hermes-acp-trial-") as folder:
        home, workspace = Path(folder, "home"), Path(folder, "workspace")
        for made in (home, workspace):
            made.mkdir()
        kept = {name: variables[name] for name in PASSED_ON if name in variables}
        own = {**kept, "HOME": str(home), "HERMES_HOME": str(home / ".hermes")}
        await greet([*COMMAND], own, workspace, version)
        await _run_turn(own, workspace)


async def greet(command: Sequence[str], variables: Mapping[str, str], workspace: Path, version: str) -> None:
    """Start a command as an editor does and read its first answer. Raises UpdateFailed for any other answer.

    Its input stays open until the answer arrives, because closing it would end even a starting process.
    """
    asked: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {}},
    }
    line, errors = await _first_line(command, variables, workspace, msgspec.json.encode(asked) + b"\n")
    try:
        answer = msgspec.json.decode(line, type=_Answer)
    except msgspec.DecodeError:
        answer = _Answer()
    if answer.result is None or answer.result.agent_info.version != version:
        said = (errors or line).decode(errors="replace").strip()
        raise UpdateFailed(
            f"It did not answer `initialize` as an editor expects: {said[-MAX_REPORTED:] or 'no output'}"
        )


async def _first_line(
    command: Sequence[str], variables: Mapping[str, str], cwd: Path, given: bytes
) -> tuple[bytes, bytes]:
    """Return the first line of a command's output, and what it writes to standard error until it ends."""
    answer, errors = bytearray(), bytearray()
    try:
        with anyio.fail_after(TIMEOUT_S):
            async with (
                await anyio.open_process(list(command), cwd=cwd, env=dict(variables)) as process,
                anyio.create_task_group() as tasks,
            ):
                assert process.stdin
                assert process.stdout
                assert process.stderr
                tasks.start_soon(_collect, process.stderr, errors)
                with suppress(anyio.BrokenResourceError):
                    await process.stdin.send(given)
                async for chunk in process.stdout:
                    answer += chunk
                    if b"\n" in chunk:
                        break
                await process.stdin.aclose()
                await process.wait()
    except TimeoutError as error:
        raise _late(command) from error
    except OSError as error:
        raise _unstartable(error) from error
    return bytes(answer).partition(b"\n")[0], bytes(errors)


async def _collect(stream: ByteReceiveStream, found: bytearray) -> None:
    async for chunk in stream:
        found += chunk


async def _run_turn(variables: Mapping[str, str], workspace: Path) -> None:
    """Run one turn that reads a file and quotes it."""
    secret = secrets.token_hex(8)
    (workspace / FILE).write_text(f"{secret}\n", encoding="utf-8")
    async with scripted_endpoint(FILE) as endpoint:
        chosen = {
            "HERMES_PROVIDER": "openai_compatible",
            "HERMES_MODEL": MODEL,
            "OPENAI_BASE_URL": endpoint.base_url,
            "OPENAI_API_KEY": "none",
            "NO_PROXY": "127.0.0.1",
        }
        words = ("run", "-p", "Read the note.", "--output-format", "json")
        done = await _started(words, {**variables, **chosen}, workspace)
    try:
        report = msgspec.json.decode(done.stdout, type=_Report)
    except msgspec.DecodeError:
        report = _Report()
    if done.returncode != 0 or secret not in report.text or not endpoint.results:
        raise UpdateFailed(f"A turn with a scripted model failed: {report.error or _said(done)}")


async def _started(
    words: Sequence[str], variables: Mapping[str, str], cwd: Path
) -> "subprocess.CompletedProcess[bytes]":
    """Run this environment's command until it ends."""
    command = [*COMMAND, *words]
    try:
        with anyio.fail_after(TIMEOUT_S):
            return await anyio.run_process(command, input=b"", check=False, cwd=cwd, env=dict(variables))
    except TimeoutError as error:
        raise _late(command) from error
    except OSError as error:
        raise _unstartable(error) from error


def _late(command: Sequence[str]) -> UpdateFailed:
    return UpdateFailed(f"It did not finish within {TIMEOUT_S:.0f} seconds: {' '.join(command)}")


def _unstartable(error: OSError) -> UpdateFailed:
    return UpdateFailed(f"It could not be started: {os.strerror(error.errno or 0)}.")


def _said(done: "subprocess.CompletedProcess[bytes]") -> str:
    text = (done.stderr or done.stdout).decode(errors="replace").strip()
    return f"code {done.returncode}, {text[-MAX_REPORTED:] or 'no output'}"
