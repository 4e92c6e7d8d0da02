"""Sign requests with AWS Signature Version 4.

Source: AWS documentation, "Create a signed AWS API request".
"""

import hashlib
import hmac
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

_ALGORITHM = "AWS4-HMAC-SHA256"


class Credentials(Struct, frozen=True):
    """A key ID, its secret and, for temporary credentials, a session token."""

    key_id: str
    secret: str
    token: str = ""

    def __repr__(self) -> str:
        return "Credentials(hidden)"


class Scope(Struct, frozen=True):
    """The region and service for which a signature is valid."""

    region: str
    service: str


def sign_request(
    method: str, url: str, body: bytes, credentials: Credentials, scope: Scope, now_s: float
) -> dict[str, str]:
    """Return the headers that sign a request with a JSON body; `now_s` is in seconds since the epoch."""
    parts = urlsplit(url)
    moment = datetime.fromtimestamp(now_s, UTC).strftime("%Y%m%dT%H%M%SZ")
    # Clients omit the scheme's default port from the host.
    host = parts.netloc.rpartition("@")[2].removesuffix(":443" if parts.scheme == "https" else ":80")
    signed = {"host": host, "x-amz-date": moment}
    if body:
        signed["content-type"] = "application/json"
    if credentials.token:
        signed["x-amz-security-token"] = credentials.token
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        (
            method,
            # The path is escaped a second time.
            quote(parts.path or "/", safe="/-_.~"),
            "&".join(sorted(_escape(pair) for pair in parse_qsl(parts.query, keep_blank_values=True))),
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        )
    )
    place = f"{moment[:8]}/{scope.region}/{scope.service}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{credentials.secret}".encode()
    for step in place.split("/"):
        key = _mac(key, step)
    signature = _mac(key, f"{_ALGORITHM}\n{moment}\n{place}\n{digest}").hex()
    proof = f"Credential={credentials.key_id}/{place}, SignedHeaders={names}, Signature={signature}"
    sent = {name: value for name, value in signed.items() if name.startswith("x-amz-")}
    return sent | {"authorization": f"{_ALGORITHM} {proof}"}


def _escape(pair: tuple[str, str]) -> str:
    name, value = pair
    return f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
