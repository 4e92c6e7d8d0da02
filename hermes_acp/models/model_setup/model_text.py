"""The prompt for the small trial call that setup makes."""

from typing import Final

TRIAL_PROMPT: Final = "This is a connection test. Answer with the word OK."
TRIAL_TOOL_DESCRIPTION: Final = "Report that you are ready."
