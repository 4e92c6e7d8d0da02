"""The server as pygls sees it.

Knows: that pygls is to be quiet. Does not know: any method (`registration`).
"""

import logging

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from hermes_acp import __version__
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.server.lsp_transport import log_line


class PyglsServer(LanguageServer):
    """pygls' server, quiet: failures are answered to whoever asked, and the rest is a line of the log."""

    def report_server_error(self, error: Exception, source: object) -> None:
        """Write down what no request was answered with."""
        if source is not FeatureRequestError:
            log_line(messages.failed_notification(type(error).__name__))


def make_server() -> PyglsServer:
    """Make a server without methods; pygls' own log would repeat what people type."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
    return PyglsServer(
        "hermes-acp", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental
    )
