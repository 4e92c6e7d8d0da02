"""What an editor's user sets for this face: `initializationOptions`, later `workspace/didChangeConfiguration`.

Knows: the names and their bounds. Does not know: what is done with them, or the settings of the app (`config`), which
stand behind all of them.
"""

from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Mode
from hermes_acp.frontends.lsp import messages

SECTION = "hermes"


class CompletionSettings(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Suggestions while typing: off unless they are wanted, since every pause in typing then asks the model.

    `model` is another model for them alone, as `provider/model` or a model of the provider in use.
    """

    enabled: bool = False
    debounce_ms: Annotated[int, Meta(ge=0, le=10_000)] = 200
    max_tokens: Annotated[int, Meta(ge=1, le=4_096)] = 160
    model: str = ""


class LspSettings(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Everything an editor can set. What is empty is as the app has it; `session` is a stored one to go on with."""

    provider: str = ""
    model: str = ""
    mode: Mode | None = None
    session: str = ""
    inline_completion: CompletionSettings = CompletionSettings()


def read_settings(given: object) -> LspSettings:
    """Read what an editor gave, alone or under `hermes`, beside what is others'. Raises BadRequest."""
    if given is None:
        return LspSettings()
    if isinstance(given, dict):
        section: object = cast("dict[str, Any]", given).get(SECTION, given)
    else:
        section = given
    try:
        return msgspec.convert({} if section is None else section, LspSettings)
    except msgspec.ValidationError as error:
        raise BadRequest(messages.invalid_settings(str(error)), hint=messages.SETTINGS_HINT) from error


def concerns_us(given: object) -> bool:
    """Return whether a change of settings is about this face: editors send whole trees, and empty ones."""
    if not isinstance(given, dict):
        return False
    names = {field.encode_name for field in msgspec.structs.fields(LspSettings)}
    return bool({SECTION, *names} & cast("dict[str, Any]", given).keys())
