"""Enable or disable one of the user's own MCP servers in config.yaml."""

from pathlib import Path

from hermes_acp.config.settings_text import read_text
from hermes_acp.config.yaml_text import with_value
from hermes_acp.storage.private_files import write_private_text
from hermes_acp.telemetry.structured_log import note_change


def switch_server(config_file: Path, name: str, *, is_enabled: bool) -> None:
    """Write the setting, leaving everything else as it is. Blocks. Raises ConfigError or StorageError."""
    value = None if is_enabled else False  # servers are enabled by default
    text = with_value(read_text(config_file), ("mcp_servers", name, "enabled"), value)
    write_private_text(config_file, text)
    note_change(config_file.parent, f"setting mcp_servers.{name}.enabled", "user")
