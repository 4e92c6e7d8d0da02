"""Convert the result of a call to the raw output of its card."""

from hermes_acp.core.events import CallEnded


def raw_output(event: CallEnded) -> dict[str, object]:
    """Return the text of a result and, for a command, how it ended."""
    output: dict[str, object] = {"text": event.text}
    if event.exit_code is not None:
        output["exit_code"] = event.exit_code
    if event.signal:
        output["signal"] = event.signal
    return output
