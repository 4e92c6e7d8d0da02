"""The results file of a batch: a line with a JSON object for each finished attempt, appended atomically and durably."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.storage.disk_sync import sync_content
from hermes_acp.storage.private_files import lock_or_busy, storage_error, sync_folder, unlock_and_close

ResultStatus = Literal["done", "failed", "stopped"]
OTHER_FILE_HINT: Final = "Name another file with --out."


class LineWork(Struct, frozen=True, kw_only=True):
    """The work done in one attempt at a line.

    `cost_usd` is None if the model's price is unknown. `seconds` is the time from the start to the end of the run.
    `interruptions` counts how often the work was interrupted and resumed.
    """

    tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    interruptions: int = 0


class LineResult(LineWork, frozen=True, kw_only=True):
    """The result of one attempt at a line. `failure` is a kind, `error` is a sentence."""

    id: str
    attempt: int = 1
    status: ResultStatus
    answer: str = ""
    failure: str = ""
    error: str = ""
    session_id: str = ""
    run_id: str = ""
    metadata: dict[str, Any] = {}


def latest(results: Sequence[LineResult]) -> Mapping[str, LineResult]:
    """Return the result of the last attempt at each line."""
    return {each.id: each for each in sorted(results, key=lambda result: result.attempt)}


def total_cost_usd(results: Sequence[LineResult]) -> float | None:
    """Return the total cost of several attempts in US dollars, or None if the price of one is unknown."""
    if any(each.tokens and each.cost_usd is None for each in results):
        return None
    return sum(each.cost_usd or 0.0 for each in results)


def read_results(file: Path) -> Sequence[LineResult]:
    """Read the results in a file, ignoring an incomplete last line. Blocks. Raises BadRequest or StorageError."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise storage_error("read the results", file, error) from error
    return _decoded(file, content[: content.rfind(b"\n") + 1])


def _decoded(file: Path, content: bytes) -> Sequence[LineResult]:
    results: list[LineResult] = []
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            results.append(msgspec.json.decode(line, type=LineResult))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{file} is not a results file of a batch: line {number}: {error}."
            raise BadRequest(message, hint=OTHER_FILE_HINT) from error
    return results


class ResultsFile:
    """A results file to which this process appends, as a context manager. Its methods block."""

    def __init__(self, file: Path) -> None:
        """Open and lock the file, creating it if it is missing. Raises Busy, BadRequest or StorageError."""
        self.file = file
        try:
            is_new = not file.exists()
            self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            if is_new:
                sync_folder(file.parent)
        except OSError as error:
            raise storage_error("open the results", file, error) from error
        try:
            lock_or_busy(self._descriptor, str(file))
            self.results = read_results(file)
            self._cut_torn_line()
        except BaseException:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> "ResultsFile":
        """Return the results file."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock and close the file."""
        unlock_and_close(self._descriptor)

    def append(self, result: LineResult) -> None:
        """Append a whole line durably; on failure, nothing is appended. Raises StorageError."""
        line = msgspec.json.encode(result) + b"\n"
        size = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            sync_content(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, size)
            raise storage_error("write the results", self.file, error) from error

    def _cut_torn_line(self) -> None:
        """Remove a last line whose writer was killed. Its result will be written again."""
        content = self.file.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._descriptor, whole)
