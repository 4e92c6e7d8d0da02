"""`providers:` and `fallbacks:` in a settings file."""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hermes_acp.config.provider_presets import presets
from hermes_acp.config.settings_section import Positive, ProviderName, Section, WireName

KeyPrice = Annotated[float, Field(ge=0)]


class ProviderKeySettings(Section):
    """The keys of a provider, and which of them is used."""

    api_key_variable: str | None = None
    """Variable that holds the key, if it is not the usual one."""
    api_key_variables: tuple[str, ...] = ()
    """Several such variables. If a key is refused, rate-limited or out of credit, the next one is used."""
    keys_by: Literal["order", "least_used", "cheapest"] = "order"
    """Which of several keys a turn uses: the first, the one with the fewest turns since the start, or the one with the
    lowest price in `key_prices`. A refused key is skipped for a while.
    """
    key_prices: dict[str, KeyPrice] = Field(default_factory=dict[str, KeyPrice])
    """Price of each key by its variable, in any unit. Only their order counts."""

    @model_validator(mode="after")
    def _check_one_key_setting(self) -> Self:
        if self.api_key_variable and self.api_key_variables:
            raise ValueError("name either api_key_variable or api_key_variables")
        if self.keys_by == "cheapest" and (missing := set(self.api_key_variables) - self.key_prices.keys()):
            raise ValueError(f"key_prices names no price for {min(missing)}")
        return self

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables configured for keys, in order of use; empty if the default variable is used."""
        named = (self.api_key_variable,) if self.api_key_variable else self.api_key_variables
        if self.keys_by == "cheapest":
            return tuple(sorted(named, key=lambda name: self.key_prices.get(name, 0.0)))
        return named


class ProviderSettings(ProviderKeySettings):
    """How to reach a provider. Keys belong in `.env`."""

    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    """Address of the provider. Default: the provider's own."""
    profile: str | None = None
    """AWS profile that provides credentials. Only for `bedrock`. Default: `AWS_PROFILE`."""
    project: str | None = None
    """Google Cloud project. Only for `vertex`. Default: `GOOGLE_CLOUD_PROJECT`."""
    location: str | None = None
    """Google Cloud location. Only for `vertex`. Default: `GOOGLE_CLOUD_LOCATION`, else `global`."""
    credentials_file: str | None = None
    """Key file of a service account. Only for `vertex`. Default: `GOOGLE_APPLICATION_CREDENTIALS`."""
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    """Additional HTTP headers. Do not put keys here."""
    wire: WireName | None = None
    """Wire format, if it is not the provider's usual one: `anthropic`, `bedrock`, `gemini`, `openai_compatible`,
    `openai_responses`, or one that an installed package adds.
    """
    tool_calls: Literal["native", "text"] | None = None
    """`text` for models without native tool calls."""
    connect_timeout_s: Positive = 10.0
    """Seconds to wait for a connection."""
    silence_timeout_s: Positive | None = None
    """Seconds without data after which a model call fails. Default: depends on the endpoint."""
    first_word_timeout_s: Positive | None = None
    """Seconds to wait for the first data of an answer. Default: depends on the endpoint."""


class FallbackSettings(Section):
    """A fallback model: `provider/model`, or both as fields."""

    provider: ProviderName
    """Provider of the fallback."""
    model: str = ""
    """Model at that provider."""

    @model_validator(mode="before")
    @classmethod
    def _split(cls, written: object) -> object:
        if not isinstance(written, str):
            return written
        provider, _, model = written.partition("/")
        return {"provider": provider, "model": model}


def check_known(named: Mapping[str, str], own: Collection[str]) -> None:
    """Check provider names, keyed by the setting that contains each; `own` lists the user-defined endpoints.

    Raises PydanticCustomError, whose context contains the path of the setting.
    """
    for place, name in named.items():
        if name not in own and name not in presets():
            reason = f"must be one of: {', '.join(presets())}; or the name of an endpoint with a base_url"
            raise PydanticCustomError("unknown_provider", "{reason}", {"place": place, "reason": reason})
