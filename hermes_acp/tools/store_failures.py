"""Convert errors of the agent's own stores into error results for the model."""

from collections.abc import Generator
from contextlib import contextmanager

from hermes_acp.core.errors import BadRequest, StorageError


@contextmanager
def store_errors_as_refusals() -> Generator[None]:
    """Convert storage errors inside the block to BadRequest."""
    try:
        yield
    except StorageError as error:
        raise BadRequest(error.message, hint=error.hint) from error
