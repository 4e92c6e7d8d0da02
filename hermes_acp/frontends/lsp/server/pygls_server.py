"""A pygls server whose own logging is turned off."""

import logging

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from hermes_acp import __version__
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.server.lsp_transport import log_line


class PyglsServer(LanguageServer):
    """A server that answers failed requests with errors, and logs each other failure on one line."""

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log an error that occurred outside a request."""
        if source is not FeatureRequestError:
            log_line(messages.failed_notification(type(error).__name__))


def make_server() -> PyglsServer:
    """Create a server without methods. The log of pygls is off, because it would contain what people type."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
    return PyglsServer(
        "hermes-acp", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental
    )
