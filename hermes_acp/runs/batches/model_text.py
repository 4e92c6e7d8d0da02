"""Messages from batches to the model."""

from typing import Final

NOBODY_IS_THERE: Final = "Nobody can be asked in this batch. Continue without it, or say what is missing."
