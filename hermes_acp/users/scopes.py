"""The scopes of a personal token: working in sessions, and reading the metrics of the profile's process."""

from typing import Final

SCOPES: Final = ("acp", "metrics")
DEFAULT_DAYS: Final = 90
