"""`questions:` in a settings file."""

from hermes_acp.config.settings_section import Positive, Section


class QuestionSettings(Section):
    """How many seconds a question waits for its user's answer; null is as long as it takes."""

    timeout_s: Positive | None = None
