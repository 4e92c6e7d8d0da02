"""Messages of `hermes-acp trust`."""

from typing import Final

LIST_HELP: Final = "only list what was found, and whether it is trusted"
REVOKE_HELP: Final = "revoke all trust in the folder"
FOLDER_HINT: Final = "Name an existing folder."
TRUSTED: Final = "trusted"
NOT_TRUSTED: Final = "not trusted"


def not_a_folder(path: str) -> str:
    """Return the error for a path that is not a folder."""
    return f"{path!r} is not a folder."


def revoked(folder: str) -> str:
    """Confirm `--revoke`."""
    return f"Nothing in {folder} is trusted any more."


def nothing_to_trust(folder: str) -> str:
    """Say that a folder contains nothing that needs trust."""
    return f"{folder} contains nothing that needs your trust."


def item_line(state: str, item: str, about: str) -> str:
    """Describe one item of a folder."""
    return f"{state}: {item}: {about}"
