"""`questions:` in a settings file."""

from typing import Literal

from hermes_acp.config.settings_section import Positive, Section


class QuestionSettings(Section):
    """Permission questions."""

    timeout_s: Positive | None = None
    """Seconds after which a permission question counts as unanswered. Default: questions wait forever."""
    without_clients: Literal["wait", "continue", "stop"] = "wait"
    """What a running turn does once no client is attached to its session. It continues, and its next question waits for
    a client (`wait`) or counts as unanswered (`continue`), or the turn is stopped (`stop`).
    """
