"""The security headers of the page: what may run, load and connect in it, and who may embed it.

Source: Content Security Policy Level 3; the Fetch standard (nosniff, cross-origin resource policy).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ALWAYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(self), payment=(), usb=()",
    }
)
IMMUTABLE: Final = "public, max-age=31536000, immutable"
NO_STORE: Final = "no-store"


def content_policy(nonce: str) -> str:
    """Return the content security policy of a document, which allows only its own files and its own server.

    Diagrams and formulas are drawn by scripts that the page adds with its nonce. Images come only from data: URLs and
    the page's own files.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            f"style-src 'self' 'nonce-{nonce}'",
            "font-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
