"""Run a Whisper model in a separate process: requests on standard input, answers as JSON lines on standard output.

A request is a JSON line with the size of the recording, followed by its bytes. The first answer says that the model is
loaded, or why it is not. The process exits when its standard input is closed, or after some minutes without a request.
It shields the agent from the model's memory use, from native crashes, and from bugs in decoders that untrusted input
may trigger.
"""

import importlib
import io
import json
import os
import select
import sys
from collections.abc import Iterator
from typing import IO, Any, Final, cast

LOWER_PRIORITY: Final = 10
MAX_THREADS: Final = 4
IDLE_S: Final = 600.0
MAX_MINUTES: Final = 15
RATE: Final = 16000
FORMATS: Final = "aac,amr,flac,matroska,webm,mov,mp3,mp4,ogg,wav,w64,aiff,caf"
"""The demuxers allowed for recordings; none of them opens other files or addresses, as playlist demuxers do."""


class RecordingError(Exception):
    """A recording cannot be used; the message says why."""


def main() -> None:
    """Load the model named by the arguments, and answer requests."""
    folder, device = sys.argv[1:3]
    answers = _own_output()
    os.nice(LOWER_PRIORITY)
    try:
        model = _load(folder, device)
    except Exception as error:
        _write(answers, {"id": 0, "error": f"{type(error).__name__}: {error}"})
        return
    _write(answers, {"id": 0})
    source = sys.stdin.buffer
    while select.select([source], [], [], IDLE_S)[0] and (line := source.readline()):
        asked = cast("dict[str, Any]", json.loads(line))
        _write(answers, {"id": asked["id"], **_answer(model, source.read(asked["size"]), asked["language"])})


def _own_output() -> IO[bytes]:
    """Return a file for answers; whatever libraries print goes to standard error instead."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _write(answers: IO[bytes], answer: dict[str, object]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _load(folder: str, device: str) -> Any:
    threads = min(MAX_THREADS, os.cpu_count() or 1)
    whisper: Any = importlib.import_module("faster_whisper")
    return whisper.WhisperModel(folder, device=device, compute_type="auto", cpu_threads=threads)


def _answer(model: Any, recording: bytes, language: str | None) -> dict[str, object]:
    try:
        samples = _samples(recording)
        detection: Any = importlib.import_module("faster_whisper.vad")
        # In silence, Whisper makes up text.
        if not detection.get_speech_timestamps(samples):
            return {"text": ""}
        segments, _ = model.transcribe(samples, language=language, vad_filter=True)
        return {"text": "".join(segment.text for segment in segments).strip()}
    except RecordingError as error:
        return {"unusable": str(error)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _samples(recording: bytes) -> Any:
    """Return a recording's samples as numbers from -1 to 1. Raises RecordingError."""
    av: Any = importlib.import_module("av")
    numpy: Any = importlib.import_module("numpy")
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    limits = {"format_whitelist": FORMATS, "protocol_whitelist": "none"}
    pieces: list[Any] = []
    length = 0
    try:
        with av.open(io.BytesIO(recording), metadata_errors="ignore", options=limits) as container:
            if not container.streams.audio:
                raise RecordingError("It contains no sound.")
            for frame in _frames(container, av.error.InvalidDataError):
                for piece in resampler.resample(frame):
                    pieces.append(piece.to_ndarray().reshape(-1))
                    length += piece.samples
                if length > MAX_MINUTES * 60 * RATE:
                    raise RecordingError(f"It is longer than {MAX_MINUTES} minutes.")
    except av.FFmpegError as error:
        raise RecordingError(f"It cannot be decoded ({error.strerror}).") from None
    if not pieces:
        raise RecordingError("It contains no sound.")
    return numpy.concatenate(pieces).astype(numpy.float32) / 32768.0


def _frames(container: Any, damage: type[Exception]) -> Iterator[Any]:
    """Yield the undamaged frames of the first audio stream, then None, which flushes the resampler."""
    frames = container.decode(audio=0)
    while True:
        try:
            yield next(frames)
        except StopIteration:
            break
        except damage:
            continue
    yield None


if __name__ == "__main__":
    main()
