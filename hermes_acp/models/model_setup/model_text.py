"""What setup's small call says to a model."""

from typing import Final

TRIAL_PROMPT: Final = "This is a connection test. Answer with the word OK."
TRIAL_TOOL_DESCRIPTION: Final = "Report that you are ready."
