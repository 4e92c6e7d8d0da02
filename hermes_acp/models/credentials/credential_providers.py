"""Sign requests with short-lived credentials from the vendors' own packages: profiles, single sign-on, machine roles.

The packages are extras and are imported when a connection is opened. They block, so they run, and renew their
credentials, in a worker thread. `config.credential_sources` determines profiles and projects.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from threading import Lock
from time import time
from typing import Any, Final, TypeVar, cast

import msgspec
from anyio import to_thread

from hermes_acp.core.errors import ConfigError, ModelAuthFailed
from hermes_acp.models.credentials.aws_signatures import Credentials, Scope, sign_request
from hermes_acp.models.wire.endpoint_client import RequestSigner

GOOGLE_SCOPES: Final = ("https://www.googleapis.com/auth/cloud-platform",)
WORDS: Final = 300
T = TypeVar("T")


def static_signer(credentials: Credentials, scope: Scope) -> RequestSigner:
    """Return a signer with a fixed key."""

    async def sign(method: str, url: str, body: bytes) -> Mapping[str, str]:
        return sign_request(method, url, body, credentials, scope, time())

    return sign


def aws_signer(credential_source: Mapping[str, str], scope: Scope) -> RequestSigner:
    """Return a signer that uses the credentials of a profile or of the machine's role.

    Raises ConfigError if the package is missing. The signer raises ModelAuthFailed.
    """
    session = _import("botocore.session", "aws", "AWS profiles").Session(
        profile=credential_source.get("profile") or None
    )
    for name in ("credentials_file", "config_file"):
        if name in credential_source:
            session.set_config_variable(name, credential_source[name])
    profile = (
        f"The AWS profile {credential_source['profile']!r}"
        if credential_source.get("profile")
        else "Your AWS configuration"
    )
    kept: list[Any] = []
    held = Lock()

    def fetch_credentials() -> Credentials:
        with held:
            kept[:] = kept or [session.get_credentials()]
            if kept[0] is None:
                kept.clear()
                raise ModelAuthFailed(
                    f"{profile} contains no key.", hint="Set AWS_BEARER_TOKEN_BEDROCK, or AWS_PROFILE."
                )
            frozen = kept[0].get_frozen_credentials()
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token or "")

    errors = import_module("botocore.exceptions")
    hint = "Sign in again, for example with `aws sso login`, or check the profile with `aws configure list`."
    fetch_guarded = _guarded(
        fetch_credentials, (errors.BotoCoreError, errors.ClientError), f"{profile} provided no key", hint
    )

    async def sign(method: str, url: str, body: bytes) -> Mapping[str, str]:
        return sign_request(method, url, body, await to_thread.run_sync(fetch_guarded), scope, time())

    return sign


def google_signer(credential_source: Mapping[str, str]) -> RequestSigner:
    """Return a signer that uses a token from a service account or from the application default credentials.

    Raises ConfigError if the package is missing. The signer raises ModelAuthFailed.
    """
    auth = _import("google.auth", "vertex", "Google Vertex AI")
    request = _import("google.auth.transport.requests", "vertex", "Google Vertex AI").Request()
    kept: list[Any] = []
    held = Lock()

    def fetch_credentials() -> dict[str, str]:
        headers: dict[str, str] = {}
        with held:
            kept[:] = kept or [_google_credentials(auth, credential_source.get("credentials_file", ""))]
            if not kept[0].valid:
                kept[0].refresh(request)
            kept[0].apply(headers)
        return {name.lower(): value for name, value in headers.items()}

    errors = (import_module("google.auth.exceptions").GoogleAuthError, OSError, ValueError)
    hint = "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file."
    fetch_guarded = _guarded(fetch_credentials, errors, "Google provided no token", hint)

    async def sign(method: str, url: str, body: bytes) -> Mapping[str, str]:
        return await to_thread.run_sync(fetch_guarded)

    return sign


def _google_credentials(auth: Any, file: str) -> Any:
    """Return the credentials in a named file, or else those that the package finds.

    Raises the package's errors and ValueError.
    """
    if file:
        info = msgspec.json.decode(Path(file).expanduser().read_bytes(), type=dict[str, Any])
        match info.get("type"):
            case "service_account":
                kind = cast("Any", import_module("google.oauth2.service_account")).Credentials
                return kind.from_service_account_info(info, scopes=GOOGLE_SCOPES)
            case "authorized_user":
                kind = cast("Any", import_module("google.oauth2.credentials")).Credentials
                return kind.from_authorized_user_info(info, scopes=GOOGLE_SCOPES)
            case _:
                pass
    return auth.default(scopes=GOOGLE_SCOPES)[0]


def _guarded(
    fetch_credentials: Callable[[], T], errors: tuple[type[Exception], ...], what: str, hint: str
) -> Callable[[], T]:
    def fetch_guarded() -> T:
        try:
            return fetch_credentials()
        except errors as error:
            why = " ".join(str(error).split())[:WORDS].rstrip(".")
            raise ModelAuthFailed(f"{what}: {why}.", hint=hint) from None

    return fetch_guarded


def _import(name: str, extra: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        from hermes_acp.config.installation import extra_hint

        message = f"{what} needs a package that is not installed."
        raise ConfigError(message, hint=extra_hint(extra)) from None
