"""How commands stand and end, in words for a model.

Knows: exit codes, signals, time-outs. Does not know: who runs a command, or how.
"""

from hermes_acp.core.exchanges import CommandEnd, Sight
from hermes_acp.core.proposals import Result


def tell_end(end: CommandEnd, timeout_s: float) -> Result:
    """Give the output and, as the last line, how the command ended."""
    output = end.output.rstrip("\n")
    is_plain = not end.timed_out and (end.signal != "" or end.exit_code is not None)
    return Result(
        f"{output or '(no output)'}\n{_ending(end, timeout_s)}",
        is_error=end.timed_out,
        exit_code=end.exit_code,
        signal=end.signal,
        output_characters=len(output) if is_plain else None,
    )


def tell_sight(name: str, sight: Sight) -> Result:
    """Give what a process put out since the last look, and how it stands."""
    output = sight.output.rstrip("\n")
    standing = f"[{name} is running]" if sight.end is None else f"[{name} has ended] {_ending(sight.end, 0)}"
    return Result(f"{output or '(no new output)'}\n{standing}")


def _ending(end: CommandEnd, timeout_s: float) -> str:
    if end.timed_out:
        return f"[timed out after {timeout_s:g} s; the command and all it started were ended]"
    if end.signal:
        return f"[killed by {end.signal}]"
    if end.exit_code is None:
        return "[ended from outside, without an exit code]"
    return f"[exit code: {end.exit_code}]"
