"""The process's environment, read once, and what can be derived from it cheaply."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.core.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

KEY_VARIABLES: Final = MappingProxyType(
    {"openai_compatible": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
)
BASE_URL_VARIABLES: Final = MappingProxyType(
    {"openai_compatible": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
)
MODEL_VARIABLES: Final = (
    "HERMES_PROVIDER",
    "HERMES_MODEL",
    *KEY_VARIABLES.values(),
    *BASE_URL_VARIABLES.values(),
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "OPENROUTER_API_KEY",
    "NOUS_API_KEY",
    "DEEPSEEK_API_KEY",
    "DASHSCOPE_API_KEY",
    "MOONSHOT_API_KEY",
    "MINIMAX_API_KEY",
    "NVIDIA_API_KEY",
)
"""Any one of these chooses a provider; a test compares them with `presets.toml`, which is not read here."""


SWITCHES: Final = ("HERMES_ACP_DRAFT_V2", "HERMES_ACP_UNSTABLE")


class Environment(Struct, frozen=True):
    """The variables the process was started with, and the home folder they name.

    `allows_bypass` is set on the command line: the user may choose a mode that never asks.
    """

    variables: Mapping[str, str]
    home_path: str
    allows_bypass: bool = False

    @property
    def home(self) -> "Path":
        """The home folder; `initialize` is answered without it, and without importing `pathlib`."""
        from pathlib import Path

        return Path(self.home_path)

    @property
    def config_file(self) -> "Path":
        """The settings file."""
        return self.home / "config.yaml"

    @property
    def secrets_file(self) -> "Path":
        """The file for keys."""
        return self.home / ".env"

    @property
    def offers_unstable(self) -> bool:
        """Whether unstable parts of the protocol are offered."""
        return self.variables.get("HERMES_ACP_UNSTABLE") == "1"

    @property
    def serve_token(self) -> str:
        """The bearer token that clients of `hermes-acp serve` must send, or an empty string if none was chosen."""
        return self.variables.get("HERMES_SERVE_TOKEN", "")

    @property
    def offers_draft_v2(self) -> bool:
        """Whether clients that request the draft of protocol version 2 get it."""
        return self.variables.get("HERMES_ACP_DRAFT_V2") == "1"

    def without(self, name: str) -> "Environment":
        """Return the environment without a variable that inner layers need not see."""
        kept = {key: value for key, value in self.variables.items() if key != name}
        return Environment(MappingProxyType(kept), self.home_path, self.allows_bypass)

    def mentions_a_model(self) -> bool:
        """Return, without parsing anything, whether a model seems to be configured; mistakes show up later."""
        if any(self.variables.get(name) for name in MODEL_VARIABLES):
            return True
        return self.config_file.is_file() or self.secrets_file.is_file()


def read_environment() -> Environment:
    """Return the process's current environment."""
    return environment_of(os.environ)


def environment_of(variables: Mapping[str, str]) -> Environment:
    """Build an environment from variables; the home folder is HERMES_HOME, else `.hermes` in the user's home.

    Raises ConfigError for a relative HERMES_HOME, which would depend on the process's working directory.
    """
    named = variables.get("HERMES_HOME")
    home = os.path.expanduser(named or os.path.join(variables.get("HOME") or "~", ".hermes"))
    if named and not os.path.isabs(home):
        raise ConfigError(f"HERMES_HOME is {named!r}.", hint="Give an absolute path.")
    return Environment(
        MappingProxyType(dict(variables)), home if os.path.isabs(home) else os.path.abspath(home)
    )
