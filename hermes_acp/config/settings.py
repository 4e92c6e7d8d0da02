"""The settings that a person writes: `config.yaml` and `.env` in the home folder.

In order of precedence: command-line flags, environment variables, `.env`, `config.yaml`, defaults. Nothing is read from
the workspace: a repository cannot configure the agent that opens it. The string below each field is its entry in
`docs/reference/settings.md`.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from hermes_acp.config.environment import Environment
from hermes_acp.config.sections.backend_settings import BackendsSettings
from hermes_acp.config.sections.checkpoint_settings import CheckpointSettings
from hermes_acp.config.sections.gateway_settings import ReachSettings
from hermes_acp.config.sections.hook_settings import HookName, HookSettings
from hermes_acp.config.sections.memory_settings import MemorySettings
from hermes_acp.config.sections.notification_settings import ReportSettings
from hermes_acp.config.sections.oauth_settings import OAuthSettings
from hermes_acp.config.sections.provider_settings import (
    FallbackSettings,
    ProviderSettings,
    check_known,
)
from hermes_acp.config.sections.question_settings import QuestionSettings
from hermes_acp.config.sections.recall_settings import RecallSettings
from hermes_acp.config.sections.rule_settings import RuleSettings, with_lines
from hermes_acp.config.sections.run_settings import ResidentSettings
from hermes_acp.config.sections.sandbox_settings import SandboxSettings
from hermes_acp.config.sections.server_settings import ServerSettings
from hermes_acp.config.sections.skill_settings import SkillSettings
from hermes_acp.config.sections.tool_settings import BuiltinToolSettings
from hermes_acp.config.sections.web_settings import BrowserSettings, WebSettings
from hermes_acp.config.settings_errors import describe_settings_errors
from hermes_acp.config.settings_section import Positive, ProviderName, Section
from hermes_acp.config.settings_text import read_text
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.messages import Effort

MEND_HINT: Final = "Correct the file, or run `hermes-acp setup` to repair it."
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
Price = Annotated[float, Field(ge=0)]


class ModelSettings(Section):
    """Corrections to the model catalog for one model."""

    window_tokens: Annotated[int, Field(ge=1000)] | None = None
    """Context window in tokens."""
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    """Maximum tokens per answer."""
    input_usd: Price | None = None
    """Input price in US dollars per million tokens."""
    output_usd: Price | None = None
    """Output price in US dollars per million tokens."""
    cached_usd: Price | None = None
    """Cached input price in US dollars per million tokens."""
    efforts: tuple[Effort, ...] | None = None
    """Reasoning effort levels that the model supports."""
    sees: bool | None = None
    """Whether the model accepts images."""


class BudgetSettings(Section):
    """Limits of one turn."""

    max_steps: Annotated[int, Field(ge=1)] | None = 100
    """Steps per turn. A step is a model call; refunded steps do not count. `null`: no limit."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens per turn, input (including cached) and output, if the endpoint reports them."""
    max_cost_usd: Positive | None = None
    """Cost per turn in US dollars, if the price is known."""
    max_schema_tokens: Annotated[int, Field(ge=0)] = 10_000
    """Tokens of all MCP tools' descriptions and parameters in a request. Beyond it, the model searches for these tools
    when it needs them.
    """
    timeout_s: Positive | None = None
    """Duration of a turn in seconds."""
    max_refunds: Annotated[int, Field(ge=0)] = 20
    """Maximum steps refunded per turn. A step is refunded if it only read files or searched."""
    tool_timeout_s: Positive = 3600.0
    """Maximum seconds per tool call. A tool without its own timeout gets 600. Time spent waiting for your answer does
    not count.
    """


class CompactionSettings(Section):
    """When a long conversation is compacted."""

    at: Annotated[float, Field(gt=0.1, le=1)] | None = 0.8
    """Fraction of the context window at which the conversation is compacted. `null`: only when the endpoint reports a
    full window.
    """
    keep: Annotated[float, Field(ge=0, le=0.5)] = 0.2
    """Share of the context window kept verbatim at the end of the conversation. At most half of `at`."""

    @model_validator(mode="after")
    def _check_leaves_room(self) -> Self:
        if self.at is not None and self.keep > self.at / 2:
            raise ValueError("keep must be at most half of at")
        return self


class DelegationSettings(Section):
    """Limits for child agents."""

    max_parallel: Annotated[int, Field(ge=1, le=16)] = 3
    """Child agents of one call that run in parallel."""
    max_children: Annotated[int, Field(ge=1, le=64)] = 8
    """Maximum number of tasks per call."""
    max_steps: Annotated[int, Field(ge=1)] = 40
    """Steps per child agent, within the turn's remaining steps."""
    isolation: Literal["none", "process", "worktree"] = "none"
    """Where child agents run: in the process of their parent, or each in its own process. With `worktree`, each
    also works in its own git worktree, and its work stays on a branch.
    """


class RetrySettings(Section):
    """How failed model calls are retried."""

    attempts: Annotated[int, Field(ge=1, le=10)] = 4
    """Attempts per model call."""
    first_wait_s: Positive = 1.0
    """Seconds before the first retry. Each subsequent wait doubles."""
    longest_wait_s: Positive = 30.0
    """Maximum seconds between retries."""
    longest_retry_after_s: Positive = 300.0
    """Longest wait that an endpoint can request if no fallback is left."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Random share of each wait."""
    rest_s: Positive = 60.0
    """Seconds for which a failed model is skipped. Doubles with each subsequent failure, up to 900."""


class McpServerSettings(Section):
    """How to reach an MCP server: a program to start, or an address. Set `command` or `url`."""

    enabled: bool = True
    """Whether sessions use the server."""
    command: str | None = Field(default=None, min_length=1)
    """Program to start. It is not looked up inside the opened project."""
    args: tuple[str, ...] = ()
    """Arguments for the program."""
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Additional environment variables for the program, besides those that commands get."""
    url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    """Address of a running server."""
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    """HTTP headers. If they include `Authorization`, there is no login."""
    transport: Literal["http", "sse"] = "http"
    """Transport of a server with a `url`."""
    oauth: OAuthSettings = OAuthSettings.defaults()
    tools: tuple[str, ...] = ()
    """Patterns for the tools to offer, such as `search_*`. Default: all."""

    @model_validator(mode="after")
    def _check_one_transport(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("name either a command or a url")
        return self


class ProjectSettings(Section):
    """The settings that a workspace's own settings files may also contain."""

    rules: tuple[RuleSettings, ...] = ()
    """What to allow, ask about or deny, by tool, path, command or host."""
    mcp_servers: dict[str, McpServerSettings] = Field(default_factory=dict[str, McpServerSettings])
    """MCP servers, by name. Their tools are available in every session."""
    hooks: dict[HookName, HookSettings] = Field(default_factory=dict[HookName, HookSettings])
    """Your own commands that run at certain points of a session, by name."""
    checks: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Commands that must succeed before an agent's work on a card is merged. A workspace's own replace yours."""


class Settings(
    BackendsSettings,
    BuiltinToolSettings,
    ProjectSettings,
    ReachSettings,
    ReportSettings,
    ResidentSettings,
    Section,
):
    """All settings in `config.yaml`."""

    provider: ProviderName | None = None
    """Model provider. Default: the first one that has a key or an address."""
    model: str | None = None
    """Model name."""
    allow_bypass: bool = False
    """Whether `bypass` mode is available."""
    mode: Literal["ask", "accept_edits", "plan", "auto", "bypass"] = "ask"
    """Mode of new sessions, which decides what runs without asking. `bypass` requires `allow_bypass`."""
    questions: QuestionSettings = QuestionSettings.defaults()
    titles: Literal["first_line", "model"] = "first_line"
    """Source of session titles: the first line of the first prompt, or one small model call after the first turn (at
    most 8 s).
    """
    fallbacks: tuple[FallbackSettings, ...] = ()
    """Models to try when the current one fails, in order: `provider/model`, or `{provider: …, model: …}`."""
    window_tokens: Annotated[int, Field(ge=1000)] | None = None
    """Context window of the model, in tokens, if it should be smaller. Default: what the endpoint states, or else a
    built-in catalog.
    """
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    """Maximum tokens per answer."""
    providers: dict[ProviderName, ProviderSettings] = Field(
        default_factory=dict[ProviderName, ProviderSettings]
    )
    """Settings by provider. Any other name is an endpoint of your own, which needs a `base_url`."""
    models: dict[str, ModelSettings] = Field(default_factory=dict[str, ModelSettings])
    """Corrections to the model catalog, by model name."""
    budget: BudgetSettings = BudgetSettings.defaults()
    compaction: CompactionSettings = CompactionSettings.defaults()
    delegation: DelegationSettings = DelegationSettings.defaults()
    web: WebSettings = WebSettings.defaults()
    browser: BrowserSettings = BrowserSettings.defaults()
    sandbox: SandboxSettings = SandboxSettings.defaults()
    checkpoints: CheckpointSettings = CheckpointSettings.defaults()
    retry: RetrySettings = RetrySettings.defaults()
    memory: MemorySettings = MemorySettings.defaults()
    skills: SkillSettings = SkillSettings.defaults()
    recall: RecallSettings = RecallSettings.defaults()
    serve: ServerSettings = ServerSettings.defaults()

    @model_validator(mode="after")
    def _check_providers(self) -> Self:
        own = [name for name, section in self.providers.items() if section.base_url]
        named = {f"providers.{name}": name for name in self.providers}
        named |= {f"fallbacks.{number}": each.provider for number, each in enumerate(self.fallbacks)}
        named |= {"provider": self.provider} if self.provider else {}
        named |= {"recall.provider": self.recall.provider} if self.recall.provider else {}
        named |= {"voice.provider": self.voice.provider} if self.voice.provider else {}
        check_known(named, own)
        return self

    @field_validator("mode")
    @classmethod
    def _check_bypass_confirmed(cls, mode: str, info: ValidationInfo) -> str:
        if mode == "bypass" and not info.data.get("allow_bypass"):
            raise ValueError("bypass needs `allow_bypass: true` as well")
        return mode


def load_settings(environment: Environment, overrides: Mapping[str, Any] = NOTHING) -> Settings:
    """Read and validate `config.yaml`; `overrides` come from flags, and a dotted name sets a field of a section.

    Raises ConfigError naming the file or flag, the setting, and what it must be.
    """
    file = environment.config_file
    content = read_text(file)
    plain = parse_settings(content, str(file))
    settings = _checked(plain, str(file), content) if plain else Settings.defaults()
    return _checked(_merged(plain, overrides), "A flag has an invalid value") if overrides else settings


def parse_settings(content: str, file: str) -> dict[str, Any]:
    """Return the settings in a file's text without validating them. Raises ConfigError that names the file."""
    if not content.strip():
        return {}
    import yaml

    from hermes_acp.config.yaml_text import yaml_fault

    try:
        plain = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: an invalid date
        raise ConfigError(f"{file} is not YAML: {yaml_fault(error)}.", hint=MEND_HINT) from error
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise ConfigError(f"{file} must hold settings as `name: value` lines.", hint=MEND_HINT)
    return with_lines(content, cast("dict[str, Any]", plain))


def _merged(plain: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the file's settings with those from flags, which take precedence."""
    laid = dict(plain)
    for name, value in overrides.items():
        section, _, leaf = name.rpartition(".")
        if section:
            laid[section] = {**laid.get(section, {}), leaf: value}
        elif leaf == "rules":
            laid[leaf] = [*(laid.get(leaf) or ()), *value]
        else:
            laid[leaf] = value
    return laid


def _checked(plain: Mapping[str, Any], source: str, content: str = "") -> Settings:
    try:
        return Settings.model_validate(plain)
    except ValidationError as error:
        from hermes_acp.config.yaml_text import line_of

        place = partial(line_of, content) if content else None
        sentence = f"{source}: {describe_settings_errors(error, Settings, place)}"
        raise ConfigError(sentence, hint=MEND_HINT if content else "") from error


def load_variables(environment: Environment) -> Mapping[str, str]:
    """Return the variables in `.env`, overridden by the real environment. Raises ConfigError.

    For variables that this profile does not set, the keys of a linked profile are used.
    """
    linked = environment.linked_secrets_file
    content = "\n".join((read_text(linked) if linked else "", read_text(environment.secrets_file)))
    if not content.strip():
        return environment.variables
    import logging
    from io import StringIO

    from dotenv import dotenv_values

    logging.getLogger("dotenv.main").setLevel(logging.ERROR)  # `doctor` reports lines that set nothing
    kept = {
        k: v for k, v in dotenv_values(stream=StringIO(content), interpolate=False).items() if v is not None
    }
    return {**kept, **environment.variables}
