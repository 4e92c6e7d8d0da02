"""Check tokens signed by an identity provider: subject, audience, lifetime and key.

Source: RFC 7519 (JWT), RFC 8725 (best practices for JWT), RFC 9068 (access tokens), OpenID Connect Core 1.0.
PyJWT is imported when the first token is checked.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from hermes_acp.core.errors import HermesError
from hermes_acp.users.accounts import Subject

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Only asymmetric algorithms, because with others, anyone who can verify a signature can also create one."""
TYPES: Final = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
LEEWAY_S: Final = 60.0
MAX_TOKEN_BYTES: Final = 16_384
MAX_SUBJECT: Final = 255

JsonWebKey = Mapping[str, Any]


class TokenRefused(HermesError):
    """The token was not accepted. The message is for the log and never contains the token."""

    code = "token_refused"


class Identity(Struct, frozen=True):
    """The subject of a token; `issued_at` and `expires_at` are seconds since the epoch."""

    subject: Subject
    issued_at: float
    expires_at: float


class TokenHeader(Struct, frozen=True):
    """The header of a token, which describes its signature."""

    algorithm: str
    key_id: str


def read_header(token: str) -> TokenHeader:
    """Return a token's unverified header. Raises TokenRefused for a token that can never be accepted."""
    import jwt

    if len(token) > MAX_TOKEN_BYTES:
        raise TokenRefused("it is too long")
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError as error:
        raise TokenRefused("it is not a signed token") from error
    algorithm, key_id = header.get("alg"), header.get("kid", "")
    if algorithm not in ALGORITHMS:
        raise TokenRefused("its signature algorithm is not accepted")
    if "crit" in header or str(header.get("typ") or "").lower() not in TYPES:
        raise TokenRefused("it is another kind of token")
    return TokenHeader(str(algorithm), key_id if isinstance(key_id, str) else "")


def key_for(header: TokenHeader, keys: Sequence[JsonWebKey]) -> JsonWebKey | None:
    """Return the key that a token names; for a token without a key ID, the only key without one."""
    fitting = [
        key
        for key in keys
        if key.get("use", "sig") == "sig" and key.get("alg", header.algorithm) == header.algorithm
    ]
    if header.key_id:
        fitting = [key for key in fitting if key.get("kid") == header.key_id]
    return fitting[0] if len(fitting) == 1 else None


def check_token(
    token: str,
    header: TokenHeader,
    key: JsonWebKey,
    *,
    issuer: str,
    audiences: Sequence[str],
    nonce: str | None = None,
    party: str = "",
) -> Identity:
    """Return the identity in a token.

    Raises TokenRefused unless `key` signed it for an accepted audience. It must contain the `nonce`, if given. With a
    `party`, a token for several audiences must name it as the authorized party.
    """
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            jwt.PyJWK(dict(key), algorithm=header.algorithm),
            algorithms=[header.algorithm],
            issuer=issuer,
            audience=list(audiences),
            leeway=LEEWAY_S,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise TokenRefused(f"it is not valid: {type(error).__name__}") from error
    if nonce is not None and claims.get("nonce") != nonce:
        raise TokenRefused("it answers another sign-in")
    has_several = isinstance(claims["aud"], list) and claims["aud"] != claims["aud"][:1]
    if party and claims.get("azp", "" if has_several else party) != party:
        raise TokenRefused("it was issued to another client")
    if "events" in claims:
        raise TokenRefused("it reports an event")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT:
        raise TokenRefused("it names no user")
    return Identity(Subject(issuer, subject), float(claims["iat"]), float(claims["exp"]))
