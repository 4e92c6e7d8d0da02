"""Write the output of a run: its answer or events, and its result, however the run ends."""

import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.core.messages import Usage
from hermes_acp.core.record.turn_times import TurnTimes
from hermes_acp.frontends.cli.cli_output import escaped
from hermes_acp.frontends.cli.messages import run_messages

FORMATS: Final = ("text", "json", "stream-json")
FORMAT_FLAG: Final = "--output-format"
NOT_STARTED: Final = "not_started"
BUSY: Final = "busy"
FAILURE_REASONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        ExitCode.FAILED: "gave_up",
        ExitCode.USAGE: NOT_STARTED,
        ExitCode.MODEL: "model_trouble",
        ExitCode.STORAGE: "storage_trouble",
        ExitCode.BUSY: BUSY,
        ExitCode.TIMED_OUT: "out_of_time",
        ExitCode.INTERRUPTED: "cancelled",
    }
)
"""The values of `reason` for runs that failed outside of a turn, by exit code."""


class RefusedCall(msgspec.Struct, frozen=True):
    """A call that needed approval, or that a hook refused, and why it did not run."""

    title: str
    reason: str


class RunReport(msgspec.Struct, tag_field="type", tag="result"):
    """The result of a run: the last line of stream-json, or the whole output in the format json."""

    session_id: str
    reason: str
    exit_code: int
    text: str
    error: str = ""
    error_code: str = ""
    steps: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    times: TurnTimes | None = None
    refused_calls: tuple[RefusedCall, ...] = ()


def failure_report(error: HermesError, session_id: str = "") -> RunReport:
    """Return the result of a run that failed outside of a turn."""
    reason = FAILURE_REASONS.get(error.exit_code, FAILURE_REASONS[ExitCode.FAILED])
    return RunReport(session_id, reason, error.exit_code, "", error.sentence(), error.code)


def stopped_report(exit_code: int, sentence: str, session_id: str = "") -> RunReport:
    """Return the result of a run that was stopped before its turn started."""
    return RunReport(session_id, FAILURE_REASONS[exit_code], exit_code, "", sentence)


def report_line(report: RunReport) -> str:
    """Format a result as a line of JSON."""
    return msgspec.json.encode(report).decode() + "\n"


def requested_format(arguments: Sequence[str]) -> str:
    """Return the output format that unparsed arguments request, if it can be determined."""
    found = "text"
    for flag, following in zip(arguments, (*arguments[1:], ""), strict=True):
        name, is_joined, value = flag.partition("=")
        if name == FORMAT_FLAG and (value if is_joined else following) in FORMATS:
            found = value if is_joined else following
    return found


class RunOutput:
    """Writes to the original standard output, which was moved; a reader that leaves does not stop the run.

    Control characters are removed if the output is a terminal.
    """

    def __init__(self, out_fd: int) -> None:
        self._out_fd = out_fd
        self._is_open = True
        self._is_terminal = os.isatty(out_fd)

    def write(self, text: str) -> None:
        """Write the whole text. Raises StorageError if that is not possible."""
        rest = (escaped(text) if self._is_terminal else text).encode("utf-8", "replace")
        try:
            while rest and self._is_open:
                rest = rest[os.write(self._out_fd, rest) :]
        except BrokenPipeError:
            self._is_open = False
        except OSError as error:
            self._is_open = False
            raise StorageError(
                run_messages.output_unwritable(error.strerror or str(error)), hint=run_messages.RECORDED_HINT
            ) from error


def note_line(line: str) -> None:
    """Print progress on one line, without anything that could control a terminal or a CI runner."""
    print(escaped(" ".join(line.split())), file=sys.stderr, flush=True)
