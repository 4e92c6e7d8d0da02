"""Explain a command that was started in a folder that somebody has deleted since."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.command_line import messages


@contextmanager
def explain_deleted_folder() -> Generator[None]:
    """Raise BadRequest for a block that fails because the current folder does not exist any more."""
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
