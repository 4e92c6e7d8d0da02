"""Find temporary credentials from vendors' own tools: AWS profiles and Google credentials.

A credential source is a mapping of named facts; it is empty if there is none. Sources: AWS SDKs reference guide,
"Shared config and credentials files"; Google Cloud documentation, "How Application Default Credentials works", and the
variables of the `google-genai` package, 3.4.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from hermes_acp.config.provider_presets import Preset
from hermes_acp.core.errors import ConfigError

if TYPE_CHECKING:
    from hermes_acp.config.settings import ProviderSettings

CredentialSource = Mapping[str, str]
_AMBIENT_CREDENTIALS: Final = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


def find_credential_source(
    preset: Preset, section: "ProviderSettings", variables: Mapping[str, str]
) -> dict[str, str]:
    """Return a provider's credential source, or an empty mapping if there is none. Raises ConfigError."""
    match preset.lender:
        case "amazon":
            return _aws_credential_source(section, variables)
        case "google":
            return _google_credential_source(section, variables)
        case "":
            return {}


def credential_url(
    preset: Preset, credential_source: CredentialSource, named_url: str, variables: Mapping[str, str]
) -> str:
    """Return the address for which the credentials are valid. Raises ConfigError."""
    if preset.lender == "google":
        own_url = preset.base_url.format(
            host=_vertex_host(credential_source["location"]), **credential_source
        )
        is_whole = not named_url or "/projects/" in named_url
        return (named_url or own_url) if is_whole else named_url.rstrip("/") + urlsplit(own_url).path
    return named_url or preset.own_url({**variables, preset.region_variables[0]: credential_source["region"]})


def _named(variables: Mapping[str, str], *names: str) -> str:
    return next((value for name in names if (value := variables.get(name, "").strip())), "")


def _aws_credential_source(section: "ProviderSettings", variables: Mapping[str, str]) -> dict[str, str]:
    profile = _named(variables, "AWS_PROFILE", "AWS_DEFAULT_PROFILE") or section.profile or ""
    folder = f"{variables['HOME']}/.aws/" if variables.get("HOME") else ""
    files = {
        "credentials_file": variables.get("AWS_SHARED_CREDENTIALS_FILE")
        or (folder and f"{folder}credentials"),
        "config_file": variables.get("AWS_CONFIG_FILE") or (folder and f"{folder}config"),
    }
    kept = {name: file for name, file in files.items() if file and Path(file).expanduser().is_file()}
    if not (profile or kept or _named(variables, *_AMBIENT_CREDENTIALS)):
        return {}
    region = _named(variables, "AWS_REGION", "AWS_DEFAULT_REGION") or _aws_region(profile or "default", kept)
    return {"profile": profile, "region": region, **kept}


def _aws_region(profile: str, files: Mapping[str, str]) -> str:
    """Return the region of an AWS profile, or an empty string if no file sets one. Raises ConfigError."""
    from configparser import ConfigParser
    from configparser import Error as BadFile

    for file in reversed(tuple(files.values())):
        parser = ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(Path(file).expanduser(), encoding="utf-8")
        except (BadFile, UnicodeDecodeError, OSError):
            raise ConfigError(
                f"{file} is not a valid AWS configuration file.", hint="Fix it, or set AWS_REGION."
            ) from None
        for section in (f"profile {profile}", profile):
            if region := parser.get(section, "region", fallback="").strip():
                return region
    return ""


def _google_credential_source(section: "ProviderSettings", variables: Mapping[str, str]) -> dict[str, str]:
    project = _named(variables, "GOOGLE_CLOUD_PROJECT") or section.project or ""
    location = (
        _named(variables, "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION") or section.location or "global"
    )
    for what, value in (("project", project), ("location", location)):
        if not value.replace("-", "").replace(":", "").replace(".", "").isalnum():
            found = f"{value!r} is not one" if value else "none is set"
            raise ConfigError(
                f"Google Vertex AI needs a {what}, but {found}.",
                hint=f"Set GOOGLE_CLOUD_{what.upper()} or `providers.vertex.{what}`.",
            )
    file = _named(variables, "GOOGLE_APPLICATION_CREDENTIALS") or section.credentials_file or ""
    return {"project": project, "location": location, "credentials_file": file}


def _vertex_host(location: str) -> str:
    """Return the host name for a location; continents use a different form."""
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in ("us", "eu"):
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"
