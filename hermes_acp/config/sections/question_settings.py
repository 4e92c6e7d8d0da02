"""`questions:` in a settings file."""

from hermes_acp.config.settings_section import Positive, Section


class QuestionSettings(Section):
    """Permission questions."""

    timeout_s: Positive | None = None
    """Seconds after which a permission question counts as unanswered. Default: questions wait forever."""
