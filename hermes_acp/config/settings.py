"""The settings a person writes: `config.yaml` and `.env` in the home folder.

Knows: every setting, its bounds and its default. Does not know: who uses it.
Order, strongest first: command-line flags, environment variables, `.env`, `config.yaml`, defaults. Nothing is ever
read from the workspace: a repository cannot configure the agent that opens it.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hermes_acp.config.environment import BASE_URL_VARIABLES, KEY_VARIABLES, Environment
from hermes_acp.core.errors import BadConfig

Positive = Annotated[float, Field(gt=0)]
ProviderName = Literal["openai_compatible", "anthropic"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProviderSettings(_Section):
    """How to reach one vendor. Keys belong in `.env`; `api_key_variable` names the one that holds it."""

    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    api_key_variable: str | None = None
    headers: dict[str, str] = {}
    connect_timeout_s: Positive = 10.0
    silence_timeout_s: Positive = 180.0


class BudgetSettings(_Section):
    """What one turn may use."""

    max_steps: Annotated[int, Field(ge=1)] = 100
    max_cost_usd: Positive | None = None
    timeout_s: Positive | None = None


class RetrySettings(_Section):
    """How often a step is tried again, and the first wait in seconds; each further wait doubles."""

    attempts: Annotated[int, Field(ge=1, le=10)] = 4
    first_wait_s: Positive = 1.0
    longest_wait_s: Positive = 30.0


class McpServerSettings(_Section):
    """How to reach one MCP server: a program to start, or an address."""

    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    headers: dict[str, str] = {}
    transport: Literal["http", "sse"] = "http"

    @model_validator(mode="after")
    def _goes_one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("name either a command or a url")
        return self


class Settings(_Section):
    """Everything in `config.yaml`."""

    provider: ProviderName | None = None
    model: str | None = None
    mode: Literal["ask", "accept_edits", "plan"] = "ask"
    window_tokens: Annotated[int, Field(ge=1000)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    providers: dict[ProviderName, ProviderSettings] = {}
    budget: BudgetSettings = BudgetSettings()
    retry: RetrySettings = RetrySettings()
    mcp_servers: dict[str, McpServerSettings] = {}


class ModelChoice(_Section):
    """The model that was chosen and how it is reached; `model` is empty where the endpoint is to be asked."""

    provider: ProviderName
    model: str
    base_url: str
    api_key: str = Field(default="", repr=False)
    key_variable: str = ""


DEFAULT_BASE_URLS: Mapping[ProviderName, str] = MappingProxyType(
    {"openai_compatible": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
)


def load_settings(environment: Environment) -> Settings:
    """Read and check `config.yaml`. Raises BadConfig naming the file, the setting and what it must be."""
    content = _read_text(environment.config_file)
    if not content.strip():
        return Settings()
    import yaml

    try:
        plain = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise BadConfig(f"{environment.config_file} is not YAML: {_one_line(str(error))}.") from error
    if plain is None:
        return Settings()
    if not isinstance(plain, dict):
        raise BadConfig(f"{environment.config_file} must hold settings as `name: value` lines.")
    try:
        return Settings.model_validate(cast("dict[str, Any]", plain))
    except ValidationError as error:
        raise BadConfig(f"{environment.config_file}: {_first_mistakes(error)}") from error


def with_overrides(settings: Settings, overrides: Mapping[str, Any]) -> Settings:
    """Lay what flags set over the file's settings; a dotted name reaches into a section. Raises BadConfig."""
    plain = settings.model_dump(exclude_unset=True)
    for name, value in overrides.items():
        section, _, leaf = name.rpartition(".")
        target = plain.setdefault(section, {}) if section else plain
        target[leaf] = value
    try:
        return Settings.model_validate(plain)
    except ValidationError as error:
        raise BadConfig(f"A flag's value does not fit: {_first_mistakes(error)}") from error


def load_variables(environment: Environment) -> Mapping[str, str]:
    """Give `.env` with the real environment laid over it. Raises BadConfig."""
    content = _read_text(environment.secrets_file)
    if not content.strip():
        return environment.variables
    from io import StringIO

    from dotenv import dotenv_values

    kept = {
        k: v for k, v in dotenv_values(stream=StringIO(content), interpolate=False).items() if v is not None
    }
    return {**kept, **environment.variables}


def choose_model(settings: Settings, variables: Mapping[str, str]) -> ModelChoice | None:
    """Choose provider, model and address from what was set; None when nothing was. Raises BadConfig."""
    provider = _provider_of(settings, variables)
    if provider is None:
        return None
    section = settings.providers.get(provider, ProviderSettings())
    key_variable = section.api_key_variable or KEY_VARIABLES[provider]
    base_url = variables.get(BASE_URL_VARIABLES[provider]) or section.base_url or DEFAULT_BASE_URLS[provider]
    if not base_url.startswith(("http://", "https://")):
        raise BadConfig(
            f"{BASE_URL_VARIABLES[provider]} is {base_url!r}.", hint="It must begin with http:// or https://."
        )
    api_key = variables.get(key_variable, "").strip()
    if not api_key and base_url == DEFAULT_BASE_URLS[provider]:
        return None
    return ModelChoice(
        provider=provider,
        model=variables.get("HERMES_MODEL") or settings.model or "",
        base_url=base_url.rstrip("/"),
        api_key=api_key,
        key_variable=key_variable,
    )


def _provider_of(settings: Settings, variables: Mapping[str, str]) -> ProviderName | None:
    named = variables.get("HERMES_PROVIDER")
    if named:
        if named not in KEY_VARIABLES:
            raise BadConfig(
                f"HERMES_PROVIDER is {named!r}.", hint=f"It must be one of: {', '.join(KEY_VARIABLES)}."
            )
        return cast("ProviderName", named)
    if settings.provider:
        return settings.provider
    candidates: tuple[ProviderName, ...] = ("anthropic", "openai_compatible")
    if "HERMES_MODEL" in variables or settings.model:
        model = variables.get("HERMES_MODEL") or settings.model or ""
        candidates = candidates if model.startswith("claude") else candidates[::-1]
    for provider in candidates:
        section = settings.providers.get(provider, ProviderSettings())
        if any(variables.get(n) for n in (KEY_VARIABLES[provider], BASE_URL_VARIABLES[provider])):
            return provider
        if section.base_url or (section.api_key_variable and variables.get(section.api_key_variable)):
            return provider
    return None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{path} cannot be read: {_one_line(str(error))}.") from error


def _first_mistakes(error: ValidationError) -> str:
    lines = [
        f"`{'.'.join(str(part) for part in mistake['loc'])}`: {mistake['msg']}"
        for mistake in error.errors(include_input=False, include_url=False)[:5]
    ]
    return "; ".join(lines) + "."


def _one_line(text: str) -> str:
    return " ".join(text.split())
