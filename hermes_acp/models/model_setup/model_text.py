"""The prompt of setup's small trial call."""

from typing import Final

TRIAL_PROMPT: Final = "This is a connection test. Answer with the word OK."
TRIAL_TOOL_DESCRIPTION: Final = "Report that you are ready."
