"""Describe the state and the outcome of a command to the model."""

import re
from typing import Final

from hermes_acp.core.ports.workspace_ports import CommandResult, OutputSnapshot
from hermes_acp.core.proposals import Result


def describe_end(end: CommandResult, timeout_s: float) -> Result:
    """Return the output, followed by a last line that says how the command ended."""
    output = end.output.rstrip("\n")
    is_plain = not end.timed_out and (end.signal != "" or end.exit_code is not None)
    return Result(
        f"{output or '(no output)'}\n{_ending(end, timeout_s)}",
        is_error=end.timed_out,
        exit_code=end.exit_code,
        signal=end.signal,
        output_characters=len(output) if is_plain else None,
    )


_ORDERS: Final = re.compile(
    r"\x1b(?:\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[PX^_][^\x1b]{0,65536}(?:\x1b\\)?"
    r"|\[[0-9;:?<>=!]{0,64}[ -/]{0,4}[@-ln-~]|[()*+][A-Z0-9]|[=>c78DEHMNOZ])"
)
"""Matches terminal control sequences, such as those that set the title or the clipboard, but not colours."""


def describe_output(name: str, sight: OutputSnapshot) -> Result:
    """Return a process's output since the last read and its state."""
    output = _ORDERS.sub("", sight.output).rstrip("\n")
    standing = f"[{name} is running]" if sight.end is None else f"[{name} has ended] {_ending(sight.end, 0)}"
    return Result(f"{output or '(no new output)'}\n{standing}")


def _ending(end: CommandResult, timeout_s: float) -> str:
    if end.timed_out:
        return f"[timed out after {timeout_s:g} s; the command and everything it started were ended]"
    if end.signal:
        return f"[killed by {end.signal}]"
    if end.exit_code is None:
        return "[ended by something else, without an exit code]"
    return f"[exit code: {end.exit_code}]"
