"""The settings a person writes: `config.yaml` and `.env` in the home folder.

Knows: every setting, its bounds and its default. Does not know: who uses it.
Order, strongest first: command-line flags, environment variables, `.env`, `config.yaml`, defaults. Nothing is ever
read from the workspace: a repository cannot configure the agent that opens it.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from hermes_acp.config.environment import Environment
from hermes_acp.config.presets import Preset, check_name, presets
from hermes_acp.core.errors import AuthRequired, BadConfig
from hermes_acp.core.messages import Effort

Positive = Annotated[float, Field(gt=0)]
Price = Annotated[float, Field(ge=0)]
ProviderName = Annotated[str, AfterValidator(check_name)]
LARGEST_BYTES: Final = 1 << 20


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProviderSettings(_Section):
    """How to reach one vendor. Keys belong in `.env`; `api_key_variable` names the one that holds it, or
    `api_key_variables` several, used in turn when one is refused, limited or used up.

    `wire` names another wire format than the preset's, `tool_calls: text` is for models without calls of their own.
    """

    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    api_key_variable: str | None = None
    api_key_variables: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    wire: Literal["anthropic", "bedrock", "gemini", "openai_compatible", "openai_responses"] | None = None
    tool_calls: Literal["native", "text"] | None = None
    connect_timeout_s: Positive = 10.0
    silence_timeout_s: Positive | None = None
    first_word_timeout_s: Positive | None = None

    @model_validator(mode="after")
    def _names_keys_one_way(self) -> Self:
        if self.api_key_variable and self.api_key_variables:
            raise ValueError("name either api_key_variable or api_key_variables")
        return self

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables named for keys, the first one first; empty where the usual one is meant."""
        return (self.api_key_variable,) if self.api_key_variable else self.api_key_variables


class ModelSettings(_Section):
    """What the user knows better of a model than the catalog: tokens, and dollars a million tokens."""

    window_tokens: Annotated[int, Field(ge=1000)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    input_usd: Price | None = None
    output_usd: Price | None = None
    cached_usd: Price | None = None
    efforts: tuple[Effort, ...] | None = None


class BudgetSettings(_Section):
    """What one turn may use; steps that made only cheap calls are given back, `max_refunds` of them."""

    max_steps: Annotated[int, Field(ge=1)] | None = 100
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_cost_usd: Positive | None = None
    timeout_s: Positive | None = None
    max_refunds: Annotated[int, Field(ge=0)] = 20
    tool_timeout_s: Positive = 600.0


class CompactionSettings(_Section):
    """When a conversation is shortened: at which share of the model's window, and which share stays word for word.

    `at` null leaves it to the endpoint to say that its window is full.
    """

    at: Annotated[float, Field(gt=0.1, le=1)] | None = 0.8
    keep: Annotated[float, Field(ge=0, le=0.5)] = 0.2

    @model_validator(mode="after")
    def _leaves_room(self) -> Self:
        if self.at is not None and self.keep > self.at / 2:
            raise ValueError("keep must be at most half of at")
        return self


class DelegationSettings(_Section):
    """How many child agents one call may have, how many of them work at once, how many steps each may take."""

    max_parallel: Annotated[int, Field(ge=1, le=16)] = 3
    max_children: Annotated[int, Field(ge=1, le=64)] = 8
    max_steps: Annotated[int, Field(ge=1)] = 40


class RetrySettings(_Section):
    """How often a step is tried again, and the first wait in seconds; each further wait doubles.

    `jitter` is the share of a wait left to chance; `rest_s` is how long a model that failed is passed over where
    another stands behind it.
    """

    attempts: Annotated[int, Field(ge=1, le=10)] = 4
    first_wait_s: Positive = 1.0
    longest_wait_s: Positive = 30.0
    longest_retry_after_s: Positive = 300.0
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.25
    rest_s: Positive = 60.0


class FallbackSettings(_Section):
    """A model to go on with when the one before it fails: `provider/model`, or the two apart."""

    provider: ProviderName
    model: str = ""

    @model_validator(mode="before")
    @classmethod
    def _split(cls, written: object) -> object:
        if not isinstance(written, str):
            return written
        provider, _, model = written.partition("/")
        return {"provider": provider, "model": model}


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
    fallbacks: tuple[FallbackSettings, ...] = ()
    window_tokens: Annotated[int, Field(ge=1000)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    providers: dict[ProviderName, ProviderSettings] = {}
    models: dict[str, ModelSettings] = {}
    budget: BudgetSettings = BudgetSettings()
    compaction: CompactionSettings = CompactionSettings()
    delegation: DelegationSettings = DelegationSettings()
    retry: RetrySettings = RetrySettings()
    mcp_servers: dict[str, McpServerSettings] = {}


class Key(_Section):
    """A key and the variable it stands in; the name may be shown, the value never."""

    variable: str
    value: str = Field(repr=False)


class ModelChoice(_Section):
    """The model that was chosen and how it is reached; `model` is empty where the endpoint is to be asked.

    `more_keys` are for when the first one is refused, limited or used up.
    """

    provider: ProviderName
    model: str
    base_url: str
    api_key: str = Field(default="", repr=False)
    key_variable: str = ""
    more_keys: tuple[Key, ...] = ()

    @property
    def keys(self) -> tuple[Key, ...]:
        """All keys, in the order they are used."""
        return (Key(variable=self.key_variable, value=self.api_key), *self.more_keys)

    def with_key(self, key: Key) -> Self:
        """Give the same choice with one key alone."""
        return self.model_copy(update={"api_key": key.value, "key_variable": key.variable, "more_keys": ()})


DEFAULT_BASE_URLS: Mapping[str, str] = MappingProxyType(
    {name: preset.base_url for name, preset in presets().items()}
)


def load_settings(environment: Environment) -> Settings:
    """Read and check `config.yaml`. Raises BadConfig naming the file, the setting and what it must be."""
    content = _read_text(environment.config_file)
    if not content.strip():
        return Settings()
    import yaml

    try:
        plain = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that is none
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
    """Choose provider, model and address from what was set; None when nothing was.

    Raises BadConfig, AuthRequired where what was named lacks its key.
    """
    provider = _provider_of(settings, variables)
    if provider is None:
        return None
    preset = presets()[provider]
    section = settings.providers.get(provider, ProviderSettings())
    keys = _named_keys(section, variables)
    if section.key_variables:
        key_variable, api_key = (keys[0].variable, keys[0].value) if keys else (section.key_variables[0], "")
    else:
        key_variable, api_key = preset.key_variable(variables), preset.key(variables)
    named_url = variables.get(preset.url_variable) or section.base_url
    if not api_key and not named_url and not preset.is_local:
        return _lack_key(settings, variables, preset)
    base_url = named_url or preset.own_url(variables)
    if not base_url.startswith(("http://", "https://")):
        raise BadConfig(
            f"{preset.url_variable} is {base_url!r}.", hint="It must begin with http:// or https://."
        )
    if not api_key and base_url == preset.base_url and not preset.is_local:
        return _lack_key(settings, variables, preset)
    return ModelChoice(
        provider=provider,
        model=variables.get("HERMES_MODEL") or settings.model or "",
        base_url=base_url.rstrip("/"),
        api_key=api_key,
        key_variable=key_variable,
        more_keys=keys[1:],
    )


def choose_fallbacks(settings: Settings, variables: Mapping[str, str]) -> tuple[ModelChoice, ...]:
    """Choose the models behind the one in use, in order. Raises BadConfig for one that could never be used."""
    kept = {
        name: value for name, value in variables.items() if name not in ("HERMES_PROVIDER", "HERMES_MODEL")
    }
    choices: list[ModelChoice] = []
    for number, fallback in enumerate(settings.fallbacks):
        model = fallback.model or presets()[fallback.provider].model
        if not model:
            hint = f"Write {fallback.provider}/ and the model's name."
            raise BadConfig(f"`fallbacks.{number}`: {fallback.provider} without a model.", hint=hint)
        wanted = settings.model_copy(update={"provider": fallback.provider, "model": model})
        try:
            choice = choose_model(wanted, kept)
        except AuthRequired as error:
            raise BadConfig(f"`fallbacks.{number}`: {error.message}", hint=error.hint) from None
        if choice is not None:
            choices.append(choice)
    return tuple(choices)


def _named_keys(section: ProviderSettings, variables: Mapping[str, str]) -> tuple[Key, ...]:
    """Give the keys that are set of those a section names."""
    held = ((name, variables.get(name, "").strip()) for name in section.key_variables)
    return tuple(Key(variable=name, value=value) for name, value in held if value)


def _lack_key(settings: Settings, variables: Mapping[str, str], preset: Preset) -> None:
    """Raise AuthRequired where the way was named; one that was only guessed is none."""
    if settings.provider or variables.get("HERMES_PROVIDER"):
        names = " and ".join(preset.key_parts[:2])
        others = f", or {names}" if names else ""
        raise AuthRequired(f"{preset.label} wants a key.", hint=f"Set {preset.key_variables[0]}{others}.")


def _provider_of(settings: Settings, variables: Mapping[str, str]) -> str | None:
    """Name the provider: the one that was named, else one for which an address or a key was set."""
    named = variables.get("HERMES_PROVIDER")
    if named:
        try:
            return check_name(named)
        except ValueError as error:
            raise BadConfig(f"HERMES_PROVIDER is {named!r}.", hint=f"It {error}.") from None
    if settings.provider:
        return settings.provider
    candidates = tuple(presets())
    model = variables.get("HERMES_MODEL") or settings.model
    if model is not None and not model.startswith("claude"):
        candidates = ("openai_compatible", *(name for name in candidates if name != "openai_compatible"))
    return next((name for name in candidates if _is_set_up(name, settings, variables)), None)


def _is_set_up(name: str, settings: Settings, variables: Mapping[str, str]) -> bool:
    preset = presets()[name]
    section = settings.providers.get(name, ProviderSettings())
    if section.base_url or _named_keys(section, variables):
        return True
    # What stands in the environment for other ends, such as credentials of AWS, chooses nothing by itself.
    keys = preset.key_variables if preset.found_by_key else ()
    urls = () if preset.key_parts else (preset.url_variable,)
    return any(variables.get(variable) for variable in (*keys, *urls))


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            raise BadConfig(f"{path} has more than {LARGEST_BYTES:,} bytes.", hint="Shorten it.")
        return content.decode("utf-8")
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
