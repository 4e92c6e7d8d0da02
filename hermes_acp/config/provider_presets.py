"""Presets for model vendors: the address, key variable and quirks of each.

A preset's `wire` names a plugin in `models/providers`; every plugin has a preset of the same name. The file is read on
first use.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from hermes_acp.core.errors import ConfigError
from hermes_acp.core.messages import Effort

OWN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
"""The pattern for names of user-defined endpoints."""
WIRES: Final = ("anthropic", "bedrock", "gemini", "openai_compatible", "openai_responses")
WIRE_ENTRY_POINTS: Final = "hermes_acp.providers"
"""The entry point group with which installed packages add wire formats; each entry names a `Vendor`."""
EffortField = Literal[
    "",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "thinking_and_effort",
    "enable_thinking",
    "chat_template_kwargs",
]


class Quirks(Struct, frozen=True, forbid_unknown_fields=True):
    """How an endpoint deviates from its wire format; only `openai_compatible` endpoints have quirks.

    `max_tokens` names the field for the output limit; if empty, it is the one in the host's own documentation.
    `thoughts` names the field in which reasoning is sent back along with its calls: `content` puts it between think
    tags in the text, `blocks` into a block before the text; if empty, reasoning is not sent. `call_ids` is `short` if
    call IDs must consist of nine letters and digits. `effort` names the field that sets the reasoning effort; if empty,
    there is none. `efforts` lists the supported levels; if empty, the model's levels apply. `tool_calls` is `text` if
    the model has no native tool calls. `reads_think_marks` means that text between think tags is reasoning;
    `begins_thinking` means that the opening tag is part of the prompt and never appears in the output.
    """

    max_tokens: str = ""
    stream_options: bool = True
    thoughts: Literal["reasoning_content", "reasoning", "content", "blocks", ""] = "reasoning_content"
    call_ids: Literal["short", ""] = ""
    effort: EffortField = "reasoning_effort"
    efforts: tuple[Effort, ...] = ()
    tool_calls: Literal["native", "text"] = "native"
    reads_think_marks: bool = False
    begins_thinking: bool = False


class Preset(Struct, frozen=True, forbid_unknown_fields=True):
    """A named endpoint; the header of `presets.toml` describes the fields."""

    label: str
    wire: str
    base_url: str
    source: str
    read_on: str
    key_variables: tuple[str, ...]
    key_parts: tuple[str, ...] = ()
    region_variables: tuple[str, ...] = ()
    url_variable: str = ""
    lender: Literal["amazon", "google", ""] = ""
    found_by_key: bool = True
    model: str = ""
    wires: dict[str, str] = {}
    headers: dict[str, str] = {}
    quirks: Quirks = Quirks()

    @property
    def is_local(self) -> bool:
        """Whether this is a server on this machine, which needs no key."""
        return not (self.key_variables or self.lender)

    def key_variable(self, variables: Mapping[str, str]) -> str:
        """Return the variable that contains the key or, if none is set, the one to set."""
        held = (name for name in self.key_variables if variables.get(name, "").strip())
        return next(held, self.key_variables[0] if self.key_variables else "")

    def key(self, variables: Mapping[str, str]) -> str:
        """Return the key, or an empty string if none is set."""
        if held := variables.get(self.key_variable(variables), "").strip():
            return held
        parts = [variables.get(name, "").strip() for name in self.key_parts]
        while parts and not parts[-1]:
            parts.pop()
        return ":".join(parts) if len(parts) >= 2 and all(parts) else ""

    def own_url(self, variables: Mapping[str, str]) -> str:
        """Return the default address. Raises ConfigError if it needs a region and none is set."""
        if not self.region_variables:
            return self.base_url
        region = next(
            (value for name in self.region_variables if (value := variables.get(name, "").strip())), ""
        )
        if not region.replace("-", "").isalnum():
            raise ConfigError(
                f"{self.label} needs a region, and {self.region_variables[0]} is {region!r}.",
                hint=f"Set {self.region_variables[0]}, for example to us-east-1.",
            )
        return self.base_url.format(region=region)

    def wire_at(self, base_url: str) -> str:
        """Return the name of the plugin that best suits an address."""
        return self.wires.get(urlsplit(base_url).hostname or "", self.wire)


@cache
def presets() -> Mapping[str, Preset]:
    """Return all presets by name, in the order of the file, which is also the order in which keys are looked up."""
    import tomllib

    import msgspec

    content = (Path(__file__).parent / "presets.toml").read_text(encoding="utf-8")
    read = msgspec.convert(tomllib.loads(content), dict[str, Preset])
    named = {
        name: msgspec.structs.replace(preset, url_variable=preset.url_variable or f"{name.upper()}_BASE_URL")
        for name, preset in read.items()
    }
    return MappingProxyType(named)


def preset_of(name: str) -> Preset:
    """Return a preset; for a user-defined endpoint, its address and wire format come from the settings."""
    return presets().get(name) or _own_preset(name)


def check_name(name: str) -> str:
    """Return the name if it belongs to a preset or is valid for a user-defined endpoint. Raises ValueError."""
    if not OWN_NAME.fullmatch(name) and name not in presets():
        raise ValueError(f"must be one of: {', '.join(presets())}; or up to 32 letters, digits, - and _")
    return name


def check_wire(name: str) -> str:
    """Return the name of a wire format if it is built in or added by an installed package. Raises ValueError."""
    known = (*WIRES, *(wire for wire in added_wires() if wire not in WIRES)) if name not in WIRES else WIRES
    if name not in known:
        raise ValueError(f"must be one of: {', '.join(known)}")
    return name


def added_wires() -> tuple[str, ...]:
    """Return the names of the wire formats added by installed packages."""
    from importlib.metadata import entry_points

    return tuple(sorted({point.name for point in entry_points(group=WIRE_ENTRY_POINTS)}))


def _own_preset(name: str) -> Preset:
    prefix = name.upper().replace("-", "_")
    return Preset(
        label=name,
        wire="openai_compatible",
        base_url="",
        source="",
        read_on="",
        key_variables=(f"{prefix}_API_KEY",),
        url_variable=f"{prefix}_BASE_URL",
    )
