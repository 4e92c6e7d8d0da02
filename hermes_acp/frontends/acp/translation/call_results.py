"""The result of a call as raw output of its card, the same in every version."""

from hermes_acp.core.events import CallEnded


def raw_output(event: CallEnded) -> dict[str, object]:
    """Return the text, and how a command ended."""
    output: dict[str, object] = {"text": event.text}
    if event.exit_code is not None:
        output["exit_code"] = event.exit_code
    if event.signal:
        output["signal"] = event.signal
    return output
