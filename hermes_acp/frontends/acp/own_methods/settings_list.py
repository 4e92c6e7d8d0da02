"""_hermes/settings/list: the settings that a client can change."""

from anyio.to_thread import run_sync

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages.settings import SETTING_TEXTS
from hermes_protocol import own


async def list_settings(client: ClientConnection, params: own.SettingsListParams) -> own.SettingsListResult:
    """List the settings with their values from the settings file. Raises ConfigError."""
    from hermes_acp.config.safe_settings import read_safe_settings

    found = await run_sync(read_safe_settings, client.app.configuration.access.environment)
    return own.SettingsListResult(
        settings=[
            own.SettingsListSetting(
                name=each.name,
                title=SETTING_TEXTS[each.name][0],
                about=SETTING_TEXTS[each.name][1],
                kind=each.kind,
                value=each.value,
                fallback=each.fallback,
                choices=list(each.choices),
                is_set=each.is_set,
            )
            for each in found
        ]
    )


EXTENSION = Method(own.SettingsListParams, list_settings, access="any")
