"""The process's environment variables, read once, and what can cheaply be derived from them."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from hermes_acp.config.home_folders import (
    DEFAULT_PROFILE,
    MAX_PROFILE_CHARACTERS,
    PROFILE_VARIABLE,
    PROFILES_FOLDER,
    home_of,
    is_profile_name,
    process_variables,
    profile_folder,
)

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
    "MISTRAL_API_KEY",
    "MINIMAX_API_KEY",
    "NVIDIA_API_KEY",
)
"""Any one of these chooses a provider; a test checks that they match `presets.toml`, which is not read here."""


SWITCHES: Final = ("HERMES_ACP_DRAFT_V2", "HERMES_ACP_UNSTABLE")
SECRETS_FILE: Final = ".env"
KEYS_FROM: Final = "keys-from"
"""The file in a profile that names another profile whose keys it may use."""


class Environment(Struct, frozen=True):
    """The variables with which the process was started, and the home folder they specify.

    `allows_bypass` is set on the command line: the user may choose a mode that never asks. The home of a `profile`
    other than the default one is below `base_path`, which is the home of the default profile.
    """

    variables: Mapping[str, str]
    home_path: str
    allows_bypass: bool = False
    profile: str = DEFAULT_PROFILE
    base_path: str = ""

    @property
    def home(self) -> "Path":
        """The home folder. `initialize` is answered without it, and so without importing `pathlib`."""
        from pathlib import Path

        return Path(self.home_path)

    @property
    def private_folder(self) -> "Path":
        """The folder that contains the homes of all profiles; sessions' tools and commands must not touch it."""
        from pathlib import Path

        return Path(self.base_path or self.home_path)

    def is_foreign(self, path: str) -> bool:
        """Return whether a path leads into the home of another profile. Blocks."""
        if self.profile == DEFAULT_PROFILE:
            return _leads_into(path, os.path.join(self.home_path, PROFILES_FOLDER))
        return _leads_into(path, self.base_path) and not _leads_into(path, self.home_path)

    @property
    def keys_profile(self) -> str:
        """The other profile whose keys this one may use, or an empty string."""
        if self.profile == DEFAULT_PROFILE:
            return ""
        try:
            with open(os.path.join(self.home_path, KEYS_FROM), encoding="utf-8") as file:
                name = file.read(MAX_PROFILE_CHARACTERS + 2).strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return name if is_profile_name(name) and name != self.profile else ""

    @property
    def linked_secrets_file(self) -> "Path | None":
        """The secrets file of the other profile whose keys this one may use, or None."""
        from pathlib import Path

        name = self.keys_profile
        return Path(profile_folder(self.base_path, name), SECRETS_FILE) if name else None

    @property
    def state_folder(self) -> "Path":
        """The folder for this profile's working files outside its home folder, such as worktrees.

        Source: XDG Base Directory Specification.
        """
        from pathlib import Path

        user = self.variables.get("HOME") or os.path.expanduser("~")
        chosen = self.variables.get("XDG_STATE_HOME", "")
        folder = chosen if os.path.isabs(chosen) else os.path.join(user, ".local", "state")
        own = () if self.profile == DEFAULT_PROFILE else (PROFILES_FOLDER, self.profile)
        return Path(folder, "hermes-acp", *own)

    @property
    def config_file(self) -> "Path":
        """The settings file."""
        return self.home / "config.yaml"

    @property
    def secrets_file(self) -> "Path":
        """The file that contains the keys."""
        return self.home / SECRETS_FILE

    @property
    def offers_unstable(self) -> bool:
        """Whether unstable parts of the protocol are offered."""
        return self.variables.get("HERMES_ACP_UNSTABLE") == "1"

    @property
    def trace_parent(self) -> str:
        """The span of the program that started this process, as a W3C `traceparent`; not validated yet."""
        return self.variables.get("TRACEPARENT", "")

    @property
    def serve_token(self) -> str:
        """The bearer token that clients of `hermes-acp serve` must send, or an empty string if none was set."""
        return self.variables.get("HERMES_SERVE_TOKEN", "")

    @property
    def offers_draft_v2(self) -> bool:
        """Whether clients that request the draft of protocol version 2 get it."""
        return self.variables.get("HERMES_ACP_DRAFT_V2") == "1"

    def without(self, name: str) -> "Environment":
        """Return the environment without one variable."""
        kept = {key: value for key, value in self.variables.items() if key != name}
        return structs.replace(self, variables=MappingProxyType(kept))

    def mentions_a_model(self) -> bool:
        """Return, without parsing anything, whether a model appears to be configured; errors are found later."""
        if any(self.variables.get(name) for name in MODEL_VARIABLES):
            return True
        linked = self.linked_secrets_file
        return self.config_file.is_file() or self.secrets_file.is_file() or bool(linked and linked.is_file())


def read_environment() -> Environment:
    """Return the process's current environment."""
    return environment_of(process_variables())


def environment_of_profile(name: str) -> Environment:
    """Return the environment of a given profile. Raises ConfigError."""
    return environment_of({**process_variables(), PROFILE_VARIABLE: name})


def environment_of(variables: Mapping[str, str]) -> Environment:
    """Build an environment from variables; the home folder is HERMES_HOME or, if unset, `.hermes` in the user's home.

    A profile's home is below that. Raises ConfigError if the profile does not exist, or if HERMES_HOME is relative,
    because it would then depend on the process's working directory.
    """
    home, profile, base = home_of(variables)
    return Environment(MappingProxyType(dict(variables)), home, profile=profile, base_path=base)


def _leads_into(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies inside it, even through links or mounts or in different case."""
    try:
        target = os.stat(folder)
    except OSError:
        return False
    path = os.path.realpath(path)
    while True:
        try:
            if os.path.samestat(os.stat(path), target):
                return True
        except (OSError, ValueError):
            pass
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
