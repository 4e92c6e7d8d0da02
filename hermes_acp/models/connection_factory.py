"""Open the connection for a chosen model, using its provider's preset and the user's settings."""

from typing import TYPE_CHECKING

from msgspec import structs

from hermes_acp.config.provider_presets import Quirks, preset_of
from hermes_acp.models.wire.endpoints import Connection, Endpoint

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import ProviderSettings


def open_connection(choice: "ModelChoice", section: "ProviderSettings") -> Connection:
    """Bind to the chosen model without touching the network. Imports the plugin, so call it in a worker thread.

    Raises ConfigError.
    """
    from hermes_acp.models.providers import open_wire

    preset = preset_of(choice.provider)
    quirks = _quirks(preset.quirks, section)
    endpoint = Endpoint(
        base_url=choice.base_url,
        api_key=choice.api_key,
        key_variable=choice.key_variable,
        credential_source=choice.credential_source,
        connect_s=section.connect_timeout_s,
        silence_s=section.silence_timeout_s,
        first_word_s=section.first_word_timeout_s,
        headers={**preset.headers, **section.headers},
        name=choice.provider,
        quirks=quirks,
    )
    connection = open_wire(section.wire or preset.wire_at(choice.base_url)).connect(endpoint)
    takes_calls = quirks.tool_calls == "text"
    if not (takes_calls or quirks.reads_think_marks or quirks.begins_thinking):
        return connection
    # Imported here because most connections do not need it.
    from hermes_acp.models.text_tools.text_tool_calls import TextToolConnection

    return TextToolConnection(connection, takes_calls=takes_calls, begins_thinking=quirks.begins_thinking)


def _quirks(quirks: Quirks, section: "ProviderSettings") -> Quirks:
    """Return the preset's quirks, overridden by the user's settings."""
    return quirks if section.tool_calls is None else structs.replace(quirks, tool_calls=section.tool_calls)
