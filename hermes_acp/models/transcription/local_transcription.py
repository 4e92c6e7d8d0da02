"""Transcribe with a Whisper model on this machine, which runs in a child process.

Source: Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision" (2022).
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, ConfigError, ModelUnavailable
from hermes_acp.core.ports.model_ports import Recording
from hermes_acp.models.model_process import PROCESS_FAULTS, ModelProcess, ProcessPlan

WORKER: Final = "hermes_acp.models.transcription.transcription_worker"
LOADING_TIMEOUT_S: Final = 120.0
TIMEOUT_S: Final = 1800.0
MAX_LINE_BYTES: Final = 16 << 20
UNUSABLE: Final = "The recording cannot be used. {why}"
UNUSABLE_HINT: Final = "Record it again, or write the prompt as text."
NOT_LOADED: Final = "The speech model in {folder} cannot be loaded: {why}."
NOT_LOADED_HINT: Final = (
    "Name another with voice.model, or download it again with `hermes-acp voice download`."
)
STOPPED: Final = "The transcription on this machine failed ({why})."
STOPPED_HINT: Final = "Make a shorter recording, or name a smaller model with voice.model."


class _Answer(Struct, frozen=True):
    id: int
    text: str = ""
    error: str = ""
    unusable: str = ""


class LocalTranscriber:
    """A model in a child process, which the first recording starts. Recordings are processed one at a time."""

    def __init__(
        self,
        folder: Path,
        device: str,
        language: str | None,
        command: Sequence[str] = (sys.executable, "-P", "-m", WORKER),
    ) -> None:
        self.name: str = f"{folder.name} on this machine"
        self._folder = folder
        plan = ProcessPlan((*command, str(folder), device), {"HF_HUB_OFFLINE": "1"}, MAX_LINE_BYTES)
        self._process = ModelProcess(plan)
        self._language = language
        self._asking = anyio.Lock()
        self._asked = 0

    async def check(self) -> None:
        """Load the model. Raises ConfigError or ModelUnavailable."""
        async with self._asking:
            try:
                await self._start_if_needed()
            except PROCESS_FAULTS as error:
                raise _stopped(error, await self._process.exit_code()) from None

    async def transcribe(self, recording: Recording) -> str:
        """Return what was said. Raises BadRequest for an unusable recording, ConfigError, or ModelUnavailable.

        If cancelled, the process is ended too, so that it does not keep computing.
        """
        async with self._asking:
            try:
                with anyio.fail_after(TIMEOUT_S):
                    answer = await self._answer(recording)
            except PROCESS_FAULTS as error:
                raise _stopped(error, await self._process.exit_code()) from None
            except BaseException:
                await self._process.aclose()
                raise
        if answer.unusable:
            raise BadRequest(UNUSABLE.format(why=answer.unusable), hint=UNUSABLE_HINT)
        if answer.error:
            raise ModelUnavailable(STOPPED.format(why=answer.error), hint=STOPPED_HINT)
        return answer.text

    async def _answer(self, recording: Recording) -> _Answer:
        try:
            return await self._ask(recording)
        except PROCESS_FAULTS as error:
            code = await self._process.exit_code()
            if code != 0:
                raise _stopped(error, code) from None
        return await self._ask(recording)  # it had just exited because it had been idle for a while

    async def _ask(self, recording: Recording) -> _Answer:
        await self._start_if_needed()
        self._asked += 1
        header = {"id": self._asked, "size": len(recording.content), "language": self._language}
        await self._process.send(msgspec.json.encode(header) + b"\n")
        await self._process.send(recording.content)
        return await self._receive()

    async def _start_if_needed(self) -> None:
        """Start the process and wait until its model is loaded. Raises ConfigError if the model cannot be loaded."""
        if self._process.is_running:
            return
        await self._process.start()
        with anyio.fail_after(LOADING_TIMEOUT_S):
            loaded = await self._receive()
        if loaded.error:
            await self._process.aclose()
            why = loaded.error.rstrip(".")
            raise ConfigError(NOT_LOADED.format(folder=self._folder, why=why), hint=NOT_LOADED_HINT)

    async def _receive(self) -> _Answer:
        return msgspec.json.decode(await self._process.receive(), type=_Answer)

    async def aclose(self) -> None:
        """End the process."""
        await self._process.aclose()


def _stopped(error: BaseException, code: int | None) -> ModelUnavailable:
    why = type(error).__name__ if code is None else f"its process ended with {code}"
    return ModelUnavailable(STOPPED.format(why=why), hint=STOPPED_HINT)
