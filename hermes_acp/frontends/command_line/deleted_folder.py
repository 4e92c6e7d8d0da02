"""Explain a failure of a command that was started in a deleted folder."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.command_line import messages


@contextmanager
def explain_deleted_folder() -> Generator[None]:
    """Raise BadRequest if the block fails because the current folder no longer exists."""
    try:
        yield
    except FileNotFoundError as error:
        if _has_current_folder():
            raise
        raise BadRequest(messages.FOLDER_DELETED, hint=messages.FOLDER_DELETED_HINT) from error


def _has_current_folder() -> bool:
    try:
        os.path.abspath("")
    except FileNotFoundError:
        return False
    return True
