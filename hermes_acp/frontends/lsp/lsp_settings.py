"""The user's settings, from `initializationOptions` and `workspace/didChangeConfiguration`."""

from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Mode
from hermes_acp.frontends.lsp import messages

SECTION = "hermes"


class CompletionSettings(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Settings for inline completion, which is off by default, because every pause in typing causes a model request.

    `model` replaces the session's model; it is `provider/model`, or a model of the session's provider.
    """

    enabled: bool = False
    debounce_ms: Annotated[int, Meta(ge=0, le=10_000)] = 200
    max_tokens: Annotated[int, Meta(ge=1, le=4_096)] = 160
    model: str = ""


class LspSettings(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """All settings. An empty one keeps the app's value; `session` names a stored session to resume."""

    provider: str = ""
    model: str = ""
    mode: Mode | None = None
    session: str = ""
    inline_completion: CompletionSettings = CompletionSettings()


def read_settings(given: object) -> LspSettings:
    """Parse settings, which may be nested under `hermes`. Raises BadRequest."""
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
    """Return whether changed settings include ours; editors send whole trees, which may be empty."""
    if not isinstance(given, dict):
        return False
    names = {field.encode_name for field in msgspec.structs.fields(LspSettings)}
    return bool({SECTION, *names} & cast("dict[str, Any]", given).keys())
