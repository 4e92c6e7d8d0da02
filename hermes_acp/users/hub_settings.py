"""The settings of a hub: `hub.yaml` in its folder, which its users cannot access."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from hermes_acp.config.settings import parse_settings
from hermes_acp.config.settings_errors import describe_settings_errors
from hermes_acp.config.settings_section import Section
from hermes_acp.core.errors import ConfigError
from hermes_acp.storage.private_files import storage_error

FILE: Final = "hub.yaml"
DEFAULT_LISTEN: Final = "127.0.0.1:8723"
AtLeastOne = Annotated[int, Field(ge=1)]


class OidcSettings(Section):
    """The OpenID Connect provider with which users sign in."""

    issuer: str = ""
    """The provider's issuer URL. Without one, users need personal tokens."""
    client_id: str = ""
    """The ID under which the hub is registered with the provider."""
    client_secret_env: str = ""
    """The environment variable with the client's secret. Default: a public client, protected only by PKCE."""
    audience: str = ""
    """The required audience of clients' access tokens. Default: only tokens for `client_id` are accepted."""
    scopes: tuple[str, ...] = ("openid",)
    """The scopes requested from the provider."""


class RateSettings(Section):
    """A rate limit."""

    requests_per_minute: AtLeastOne = 600
    """The limit for requests by one user."""
    addresses_per_minute: AtLeastOne = 1200
    """The limit for requests from one address, no matter who sends them."""
    sign_ins_per_minute: AtLeastOne = 10
    """The limit for failed or pending sign-in attempts from one address."""


class HubSettings(Section):
    """All settings of a hub."""

    listen: str = DEFAULT_LISTEN
    """The address and port to listen on."""
    public_url: str = ""
    """The address that people use, such as https://agents.example. Needed behind a proxy and for signing in."""
    certificate: str = ""
    """The file with the server's certificate and its chain (PEM)."""
    certificate_key: str = ""
    """The file with the certificate's key (PEM)."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of reverse proxies that terminate TLS. Only these may state the client's address."""
    idle_seconds: Annotated[float, Field(gt=0)] = 900.0
    """How long an idle profile process keeps running."""
    pass_variables: tuple[str, ...] = ()
    """Environment variables of the hub that every profile's process gets, such as the key for a shared model."""
    web_session_hours: Annotated[float, Field(gt=0)] = 12.0
    """How long a browser stays signed in."""
    rates: RateSettings = RateSettings.defaults()
    """Limits on requests."""
    oidc: OidcSettings = OidcSettings.defaults()
    """The identity provider."""


def load_hub_settings(folder: Path) -> HubSettings:
    """Read and validate `hub.yaml`; without it, the defaults apply. Raises ConfigError or StorageError."""
    file = folder / FILE
    try:
        content = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return HubSettings.defaults()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError):
            raise storage_error("read", file, error) from error
        raise ConfigError(f"{file} is not UTF-8 text.") from error
    try:
        return HubSettings.model_validate(parse_settings(content, str(file)))
    except ValidationError as error:
        raise ConfigError(f"{file}: {describe_settings_errors(error, HubSettings)}") from error
