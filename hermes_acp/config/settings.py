"""The settings a person writes: `config.yaml` and `.env` in the home folder.

Knows: every setting, its bounds and its default. Does not know: who uses it.
Order, strongest first: command-line flags, environment variables, `.env`, `config.yaml`, defaults. Nothing is ever
read from the workspace: a repository cannot configure the agent that opens it.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from hermes_acp.config.backend_settings import (
    BackendName,
    DaytonaSettings,
    DockerSettings,
    ModalSettings,
    SingularitySettings,
    SshSettings,
    VercelSettings,
)
from hermes_acp.config.checkpoint_settings import CheckpointSettings
from hermes_acp.config.environment import Environment
from hermes_acp.config.memory_settings import MemorySettings
from hermes_acp.config.oauth_settings import OAuthSettings
from hermes_acp.config.question_settings import QuestionSettings
from hermes_acp.config.recall_settings import RecallSettings
from hermes_acp.config.rule_settings import RuleSettings, with_lines
from hermes_acp.config.sandbox_settings import SandboxSettings
from hermes_acp.config.settings_errors import describe_settings_errors
from hermes_acp.config.settings_section import Positive, ProviderName, Section
from hermes_acp.config.settings_text import one_line, read_text
from hermes_acp.config.skill_settings import SkillSettings
from hermes_acp.config.web_settings import BrowserSettings, WebSettings
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.messages import Effort

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
Price = Annotated[float, Field(ge=0)]


class ProviderSettings(Section):
    """How to reach one vendor. Keys belong in `.env`; `api_key_variable` names the one that holds it, or
    `api_key_variables` several, used in turn when one is refused, limited or used up.

    `wire` names another wire format than the preset's, `tool_calls: text` is for models without calls of their own.
    `profile` is one of Amazon's, the other three are Google's: where keys are borrowed (`config.loans`).
    """

    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    api_key_variable: str | None = None
    api_key_variables: tuple[str, ...] = ()
    profile: str | None = None
    project: str | None = None
    location: str | None = None
    credentials_file: str | None = None
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    wire: Literal["anthropic", "bedrock", "gemini", "openai_compatible", "openai_responses"] | None = None
    tool_calls: Literal["native", "text"] | None = None
    connect_timeout_s: Positive = 10.0
    silence_timeout_s: Positive | None = None
    first_word_timeout_s: Positive | None = None

    @model_validator(mode="after")
    def _check_one_key_setting(self) -> Self:
        if self.api_key_variable and self.api_key_variables:
            raise ValueError("name either api_key_variable or api_key_variables")
        return self

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables named for keys, the first one first; empty where the usual one is meant."""
        return (self.api_key_variable,) if self.api_key_variable else self.api_key_variables


class ModelSettings(Section):
    """What the user knows better of a model than the catalog: tokens, and dollars a million tokens."""

    window_tokens: Annotated[int, Field(ge=1000)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    input_usd: Price | None = None
    output_usd: Price | None = None
    cached_usd: Price | None = None
    efforts: tuple[Effort, ...] | None = None
    sees: bool | None = None


class BudgetSettings(Section):
    """What one turn may use; steps that made only cheap calls are given back, `max_refunds` of them."""

    max_steps: Annotated[int, Field(ge=1)] | None = 100
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_cost_usd: Positive | None = None
    timeout_s: Positive | None = None
    max_refunds: Annotated[int, Field(ge=0)] = 20
    tool_timeout_s: Positive = 3600.0


class CompactionSettings(Section):
    """When a conversation is shortened: at which share of the model's window, and which share stays word for word.

    `at` null leaves it to the endpoint to say that its window is full.
    """

    at: Annotated[float, Field(gt=0.1, le=1)] | None = 0.8
    keep: Annotated[float, Field(ge=0, le=0.5)] = 0.2

    @model_validator(mode="after")
    def _check_leaves_room(self) -> Self:
        if self.at is not None and self.keep > self.at / 2:
            raise ValueError("keep must be at most half of at")
        return self


class DelegationSettings(Section):
    """How many child agents one call may have, how many of them work at once, how many steps each may take."""

    max_parallel: Annotated[int, Field(ge=1, le=16)] = 3
    max_children: Annotated[int, Field(ge=1, le=64)] = 8
    max_steps: Annotated[int, Field(ge=1)] = 40


class RetrySettings(Section):
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


class FallbackSettings(Section):
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


class McpServerSettings(Section):
    """How to reach one MCP server: a program to start, or an address."""

    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict[str, str])
    url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    transport: Literal["http", "sse"] = "http"
    oauth: OAuthSettings = OAuthSettings.defaults()
    tools: tuple[str, ...] = ()
    """Patterns of the tools that are offered; all of them where there is none."""

    @model_validator(mode="after")
    def _check_one_transport(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("name either a command or a url")
        return self


class Settings(Section):
    """Everything in `config.yaml`."""

    provider: ProviderName | None = None
    model: str | None = None
    allow_bypass: bool = False
    mode: Literal["ask", "accept_edits", "plan", "auto", "bypass"] = "ask"
    rules: tuple[RuleSettings, ...] = ()
    questions: QuestionSettings = QuestionSettings.defaults()
    titles: Literal["first_line", "model"] = "first_line"
    fallbacks: tuple[FallbackSettings, ...] = ()
    window_tokens: Annotated[int, Field(ge=1000)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    providers: dict[ProviderName, ProviderSettings] = Field(
        default_factory=dict[ProviderName, ProviderSettings]
    )
    models: dict[str, ModelSettings] = Field(default_factory=dict[str, ModelSettings])
    budget: BudgetSettings = BudgetSettings.defaults()
    compaction: CompactionSettings = CompactionSettings.defaults()
    delegation: DelegationSettings = DelegationSettings.defaults()
    backend: BackendName = "local"
    daytona: DaytonaSettings = DaytonaSettings.defaults()
    docker: DockerSettings = DockerSettings.defaults()
    modal: ModalSettings = ModalSettings.defaults()
    singularity: SingularitySettings = SingularitySettings.defaults()
    ssh: SshSettings = SshSettings.defaults()
    vercel: VercelSettings = VercelSettings.defaults()
    web: WebSettings = WebSettings.defaults()
    browser: BrowserSettings = BrowserSettings.defaults()
    sandbox: SandboxSettings = SandboxSettings.defaults()
    checkpoints: CheckpointSettings = CheckpointSettings.defaults()
    retry: RetrySettings = RetrySettings.defaults()
    memory: MemorySettings = MemorySettings.defaults()
    skills: SkillSettings = SkillSettings.defaults()
    recall: RecallSettings = RecallSettings.defaults()
    mcp_servers: dict[str, McpServerSettings] = Field(default_factory=dict[str, McpServerSettings])

    @field_validator("mode")
    @classmethod
    def _check_bypass_confirmed(cls, mode: str, info: ValidationInfo) -> str:
        if mode == "bypass" and not info.data.get("allow_bypass"):
            raise ValueError("bypass needs `allow_bypass: true` as well")
        return mode


def load_settings(environment: Environment, overrides: Mapping[str, Any] = NOTHING) -> Settings:
    """Read and check `config.yaml`; `overrides` are what flags set, where a dotted name reaches into a section.

    Raises ConfigError naming the file or the flags, the setting and what it must be.
    """
    file = environment.config_file
    plain = _plain_settings(file)
    settings = _checked(plain, str(file)) if plain else Settings.defaults()
    return _checked(_merged(plain, overrides), "A flag's value does not fit") if overrides else settings


def _plain_settings(file: Path) -> dict[str, Any]:
    content = read_text(file)
    if not content.strip():
        return {}
    import yaml

    try:
        plain = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that is none
        raise ConfigError(f"{file} is not YAML: {one_line(str(error))}.") from error
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise ConfigError(f"{file} must hold settings as `name: value` lines.")
    return with_lines(content, cast("dict[str, Any]", plain))


def _merged(plain: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Lay what flags set over what a file says."""
    laid = dict(plain)
    for name, value in overrides.items():
        section, _, leaf = name.rpartition(".")
        if section:
            laid[section] = {**laid.get(section, {}), leaf: value}
        else:
            laid[leaf] = value
    return laid


def _checked(plain: Mapping[str, Any], source: str) -> Settings:
    try:
        return Settings.model_validate(plain)
    except ValidationError as error:
        raise ConfigError(f"{source}: {describe_settings_errors(error, Settings)}") from error


def load_variables(environment: Environment) -> Mapping[str, str]:
    """Return `.env` with the real environment laid over it. Raises ConfigError."""
    content = read_text(environment.secrets_file)
    if not content.strip():
        return environment.variables
    from io import StringIO

    from dotenv import dotenv_values

    kept = {
        k: v for k, v in dotenv_values(stream=StringIO(content), interpolate=False).items() if v is not None
    }
    return {**kept, **environment.variables}
