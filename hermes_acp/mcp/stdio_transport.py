"""Run a server as a child process that exchanges messages line by line.

The child sees only the secrets that it was explicitly given; its standard error goes to a log of limited size. When the
transport closes, no process in the child's group survives. Source: Model Context Protocol, stdio transport.
"""

import codecs
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from anyio.to_thread import run_sync

from hermes_acp.mcp.server_definitions import ServerContext, StdioServer
from hermes_acp.telemetry.process_privacy import hide_memory
from hermes_acp.telemetry.redaction import Redactor, secrets_among

if TYPE_CHECKING:
    from mcp.types import JSONRPCError

Streams = tuple[Any, Any]

CHUNK_BYTES: Final = 64 * 1024
MAX_LINE_BYTES: Final = 16 << 20
MAX_LOG_BYTES: Final = 1 << 20
PARSE_ERROR: Final = -32700
_ANSWERED: Final = re.compile(rb'"id"\s*:\s*"?(\d{1,9})"?\s*[,}]')
EXIT_TIMEOUT_S: Final = 0.4
TERM_GRACE_S: Final = 0.4
KILL_TIMEOUT_S: Final = 2.0
POLL_INTERVAL_S: Final = 0.01


class ServerExited(OSError):
    """The child exited, or sent an invalid line."""


@asynccontextmanager
async def stdio_streams(
    spec: StdioServer, server_context: ServerContext, log_name: str
) -> AsyncGenerator[Streams]:
    """Start the server and yield its message streams.

    Raises OSError, or ServerExited if the server exits on its own.
    """
    log = _open_log(server_context.logs, log_name)
    try:
        said, says = os.pipe()
        complained, complains = os.pipe()
        try:
            process, mark = await _start(spec, server_context, says, complains)
        except BaseException:
            os.close(said)
            os.close(complained)
            raise
        finally:
            os.close(says)
            os.close(complains)
        try:
            async with _bridged(process, said, complained, log, secrets_among(dict(spec.env))) as streams:
                yield streams
        finally:
            os.close(said)
            os.close(complained)
            if server_context.process_registry:
                with anyio.CancelScope(shield=True):
                    await server_context.process_registry.end(mark, process.pid)
    finally:
        os.close(log)


@asynccontextmanager
async def _bridged(
    process: Process, said: int, complained: int, log: int, secrets: tuple[str, ...]
) -> AsyncGenerator[Streams]:
    to_us, arriving = anyio.create_memory_object_stream[Any](0)
    leaving, from_us = anyio.create_memory_object_stream[Any](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, said, to_us)
            tasks.start_soon(_pump, complained, _bounded_log(log, secrets))
            assert process.stdin, "the child was started with a pipe"
            tasks.start_soon(_write, from_us, process.stdin)
            try:
                yield arriving, leaving
            finally:
                tasks.cancel_scope.cancel()
    finally:
        for stream in (to_us, arriving, leaving, from_us):
            stream.close()
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _start(
    spec: StdioServer, server_context: ServerContext, says: int, complains: int
) -> tuple[Process, str]:
    """Start the child, and return it with its mark.

    Cancellation waits until the process ID is known, because the child could not be killed otherwise.
    """
    if server_context.may_start and not await run_sync(server_context.may_start, spec.name):
        raise ServerExited("it is no longer what you trusted")
    environment = {**server_context.environment, **dict(spec.env)}
    program = _find(spec.command, environment.get("PATH", os.defpath), server_context)
    argv, mark, process_registry = (program, *spec.args), "", server_context.process_registry
    if process_registry:
        mark = process_registry.fresh_mark()
        argv, environment = (
            process_registry.words(mark, argv),
            {**environment, **process_registry.variables(mark)},
        )
    started: list[Process] = []
    hide_memory()
    with anyio.CancelScope(shield=True):
        started.append(
            await anyio.open_process(
                argv,
                stdin=subprocess.PIPE,
                stdout=says,
                stderr=complains,
                cwd=server_context.cwd,
                env=environment,
                start_new_session=True,
            )
        )
    if process_registry:
        process_registry.register_process(mark, started[0].pid)
    return started[0], mark


def _find(command: str, path: str, server_context: ServerContext) -> str:
    """Find a program by name, but never in the workspace, whose files the user did not choose."""
    if os.sep in command:
        path = os.path.join(server_context.cwd, command)
        if not os.path.isfile(path):
            raise FileNotFoundError(2, "the program does not exist", command)
        if not os.access(path, os.X_OK):
            raise PermissionError(13, "permission to start the program was denied", command)
        return command
    inside = tuple(root.rstrip("/") + "/" for root in server_context.roots)
    kept = [
        place
        for place in path.split(os.pathsep)
        if os.path.isabs(place) and not f"{place}/".startswith(inside)
    ]
    found = shutil.which(command, path=os.pathsep.join(kept))
    if found is None:
        raise FileNotFoundError(2, "the program does not exist", command)
    return found


async def _read(said: int, to_us: MemoryObjectSendStream[Any]) -> None:
    """Forward each message; invalid lines are skipped, because some servers also print other text.

    An invalid answer ends the call to which it belongs, which would otherwise wait forever.
    """
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    rest = bytearray()
    async for chunk in _chunks(said):
        start = len(rest)
        rest += chunk
        while (end := rest.find(b"\n", start)) >= 0:
            line = bytes(rest[:end])
            del rest[: end + 1]
            start = 0
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                message = _error_response(line)
            if message is not None:
                await to_us.send(SessionMessage(message))
        if len(rest) > MAX_LINE_BYTES:
            raise ServerExited("it sent an endless line")
    raise ServerExited("it ended")


def _error_response(line: bytes) -> "JSONRPCError | None":
    """Return an error that replaces an invalid answer, or None if it belongs to none of our calls."""
    from mcp.types import ErrorData, JSONRPCError

    told = _ANSWERED.search(line) if line.lstrip().startswith(b"{") and b'"method"' not in line else None
    if told is None:
        return None
    error = ErrorData(code=PARSE_ERROR, message="The server's answer is not a JSON-RPC 2.0 message.")
    return JSONRPCError(jsonrpc="2.0", id=int(told[1]), error=error)


async def _write(from_us: MemoryObjectReceiveStream[Any], stdin: ByteSendStream) -> None:
    async for outgoing in from_us:
        line = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await stdin.send(line.encode("utf-8", "replace") + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            raise ServerExited("it no longer reads its input") from error


async def _pump(descriptor: int, take: Callable[[bytes], None]) -> None:
    """Forward a pipe's data, followed by an empty chunk at the end, whatever caused the end."""
    try:
        async for chunk in _chunks(descriptor):
            take(chunk)
    finally:
        take(b"")


async def _chunks(descriptor: int) -> AsyncGenerator[bytes]:
    os.set_blocking(descriptor, False)
    while True:
        await anyio.wait_readable(descriptor)
        with suppress(BlockingIOError):
            chunk = os.read(descriptor, CHUNK_BYTES)
            if not chunk:
                return
            yield chunk


def _open_log(folder: Path, name: str) -> int:
    """Open the server's log, truncating it if it has grown large; if the log cannot be written, output is discarded."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = os.open(folder / name, flags, 0o600)
        if os.fstat(log).st_size > MAX_LOG_BYTES:
            os.ftruncate(log, 0)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    return log


def _bounded_log(log: int, values: Iterable[str]) -> Callable[[bytes], None]:
    """Return a function that writes to the log, without secrets, until it is full; an empty chunk marks the end."""
    room = MAX_LOG_BYTES
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    clean = Redactor(values).stream()

    def take(chunk: bytes) -> None:
        nonlocal room
        if room <= 0:
            return
        said = clean.feed(decoder.decode(chunk, final=not chunk)) + ("" if chunk else clean.finish())
        with suppress(OSError):
            room -= os.write(log, said.encode("utf-8", "replace")[:room])

    return take


async def _end(process: Process) -> None:
    """Close the process's input, then terminate its group, then kill it, with a time limit for each wait."""
    assert process.stdin, "the child was started with a pipe"
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    for number, wait_s in (
        (0, EXIT_TIMEOUT_S),
        (signal.SIGTERM, TERM_GRACE_S),
        (signal.SIGKILL, KILL_TIMEOUT_S),
    ):
        _signal_group(process.pid, number)
        with anyio.move_on_after(wait_s):
            while process.returncode is None:
                await anyio.sleep(POLL_INTERVAL_S)
            break
    _signal_group(process.pid, signal.SIGKILL)
    with anyio.move_on_after(KILL_TIMEOUT_S):
        await process.wait()
    _reap_group(process.pid)


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _reap_group(group: int) -> None:
    """Reap adopted orphans in the group; the child itself has already been reaped."""
    with suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
