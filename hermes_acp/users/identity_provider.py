"""Sign in with an OpenID Connect provider: its metadata, its keys, and the authorization code flow with PKCE.

Source: OpenID Connect Core and Discovery 1.0, RFC 7636 (PKCE), RFC 9207 (issuer in the answer).
"""

import base64
import secrets
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.core.errors import ConfigError
from hermes_acp.users.identity_tokens import (
    Identity,
    JsonWebKey,
    TokenRefused,
    check_token,
    key_for,
    read_header,
)

if TYPE_CHECKING:
    import httpx2

DISCOVERY: Final = "/.well-known/openid-configuration"
TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 1 << 20
FRESH_S: Final = 3600.0
STALE_S: Final = 86_400.0
"""How long keys are used if they cannot be refreshed."""
KEY_PAUSE_S: Final = 10.0
"""The minimum time between two fetches of the keys, no matter which keys tokens name."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class ProviderChoice(Struct, frozen=True):
    """The provider and the hub's client there, which is public without a secret.

    `audience` is the audience required in bearer tokens.
    """

    issuer: str
    client_id: str
    client_secret: str = ""
    audience: str = ""
    scopes: tuple[str, ...] = ("openid",)


class SignInAttempt(Struct, frozen=True):
    """A sign-in in progress: the URL for the browser, and the values to check its answer with."""

    url: str
    state: str
    nonce: str
    verifier: str
    redirect_uri: str


class _Metadata(Struct, frozen=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _Keys(Struct, frozen=True):
    keys: tuple[dict[str, Any], ...]


class _TokenAnswer(Struct, frozen=True):
    id_token: str


class ProviderUnavailable(TokenRefused):
    """The provider cannot be reached or gave an invalid answer."""


class IdentityProvider:
    """One OpenID Connect provider."""

    def __init__(self, choice: ProviderChoice) -> None:
        """Initialise without contacting the provider. Raises ConfigError for an issuer without encryption."""
        parts = urlsplit(choice.issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ConfigError(f"The issuer {choice.issuer!r} is not an https address.")
        self._choice = choice
        self._lock = anyio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._metadata: _Metadata | None = None
        self._metadata_at = self._keys_at = self._tried_at = -STALE_S
        self._keys: tuple[JsonWebKey, ...] = ()

    async def begin(self, redirect_uri: str) -> SignInAttempt:
        """Start a sign-in. Raises TokenRefused if the provider does not answer."""
        metadata = await self._read_metadata()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self._choice.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self._choice.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        separator = "&" if "?" in metadata.authorization_endpoint else "?"
        url = f"{metadata.authorization_endpoint}{separator}{urlencode(asked)}"
        return SignInAttempt(url, state, nonce, verifier, redirect_uri)

    async def finish(self, attempt: SignInAttempt, answer: Mapping[str, str]) -> Identity:
        """Return the identity that signed in.

        Raises TokenRefused unless the answer belongs to the attempt and is genuine.
        """
        if not secrets.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
            raise TokenRefused("the answer belongs to another sign-in")
        if answer.get("iss", self._choice.issuer) != self._choice.issuer:
            raise TokenRefused("the answer comes from another provider")
        if "error" in answer or not answer.get("code"):
            raise TokenRefused("the provider refused")
        token = await self._redeem(attempt, answer["code"])
        return await self._checked(token, (self._choice.client_id,), attempt.nonce)

    async def identity_of(self, bearer: str) -> Identity:
        """Return the identity in a client's access or ID token. Raises TokenRefused."""
        audiences = tuple(filter(None, (self._choice.audience, self._choice.client_id)))
        return await self._checked(bearer, audiences, None)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http:
            await self._http.aclose()

    async def _checked(self, token: str, audiences: Sequence[str], nonce: str | None) -> Identity:
        header = read_header(token)
        key = key_for(header, await self._read_keys(FRESH_S))
        if key is None:  # the provider may have changed its keys
            key = key_for(header, await self._read_keys(KEY_PAUSE_S))
        if key is None:
            raise TokenRefused("its key is not known")
        party = self._choice.client_id if nonce is not None else ""
        issuer = self._choice.issuer
        return check_token(token, header, key, issuer=issuer, audiences=audiences, nonce=nonce, party=party)

    async def _redeem(self, attempt: SignInAttempt, code: str) -> str:
        metadata, choice = await self._read_metadata(), self._choice
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        headers = {"accept": "application/json"}
        if not choice.client_secret:
            form["client_id"] = choice.client_id
        elif "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            pair = urlencode({choice.client_id: choice.client_secret}).replace("=", ":", 1)
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": choice.client_id, "client_secret": choice.client_secret}
        content = await self._ask("POST", metadata.token_endpoint, form, headers)
        return _decoded(content, _TokenAnswer).id_token

    async def _read_metadata(self) -> _Metadata:
        async with self._lock:
            if self._metadata and time.monotonic() - self._metadata_at < FRESH_S:
                return self._metadata
            address = self._choice.issuer.rstrip("/") + DISCOVERY
            found = _decoded(await self._ask("GET", address), _Metadata)
            if found.issuer != self._choice.issuer:
                raise ProviderUnavailable("the provider identifies itself as another issuer")
            self._metadata, self._metadata_at = found, time.monotonic()
            return found

    async def _read_keys(self, max_age_s: float) -> tuple[JsonWebKey, ...]:
        """Return the provider's keys, no older than the given age unless the provider does not answer."""
        metadata = await self._read_metadata()
        async with self._lock:
            now = time.monotonic()
            if now - self._keys_at < max_age_s or now - self._tried_at < KEY_PAUSE_S:
                return self._keys
            self._tried_at = now
            try:
                self._keys = _decoded(await self._ask("GET", metadata.jwks_uri), _Keys).keys
                self._keys_at = now
            except ProviderUnavailable:
                if now - self._keys_at > STALE_S:
                    raise
            return self._keys

    async def _ask(
        self,
        method: str,
        address: str,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        import httpx2

        self._http = self._http or httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False)
        content = b""
        try:
            async with self._http.stream(method, address, data=form, headers=headers) as answer:
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > MAX_ANSWER_BYTES:
                        raise ProviderUnavailable("the provider's answer is too long")
        except httpx2.HTTPError as error:
            raise ProviderUnavailable(
                f"the provider cannot be reached: {type(error).__name__}", retryable=True
            ) from error
        if answer.status_code != 200:
            raise ProviderUnavailable(f"the provider answered with status {answer.status_code}")
        return content


def _decoded(content: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise ProviderUnavailable("the provider's answer could not be understood") from error
