"""Switch one of the user's own MCP servers on or off in config.yaml."""

from pathlib import Path

from hermes_acp.config.settings_text import read_text
from hermes_acp.config.yaml_text import with_value
from hermes_acp.storage.private_files import private_folder, storage_error, write_whole


def switch_server(config_file: Path, name: str, *, is_enabled: bool) -> None:
    """Write the setting, leaving everything else as it is; blocks. Raises ConfigError, StorageError."""
    # What is usual is left out.
    value = None if is_enabled else False
    text = with_value(read_text(config_file), ("mcp_servers", name, "enabled"), value)
    private_folder(config_file.parent)
    try:
        write_whole(config_file, text.encode(), mode=0o600)
    except OSError as error:
        raise storage_error("write", config_file, error) from error
