"""_hermes/settings/change: change a setting that is safe for clients to change, from the next turn on."""

from anyio.to_thread import run_sync

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def change_setting(
    client: ClientConnection, params: own.SettingsChangeParams
) -> own.SettingsChangeResult:
    """Change the settings file. Raises BadRequest for other settings or invalid values, ConfigError, StorageError."""
    from hermes_acp.config.safe_settings import changed_settings
    from hermes_acp.storage.private_files import write_private_text
    from hermes_acp.telemetry.structured_log import note_change

    configuration = client.app.configuration
    environment = configuration.access.environment

    def change() -> None:
        write_private_text(environment.config_file, changed_settings(environment, params.name, params.value))
        note_change(environment.home, f"setting {params.name}", client.name or "user")

    await run_sync(change)
    configuration.forget_model()
    return own.SettingsChangeResult()


EXTENSION = Method(own.SettingsChangeParams, change_setting, access="any")
