"""A workspace composed of two independent parts: files and commands."""

from collections.abc import Mapping

from hermes_acp.core.ports.workspace_ports import Commands, Files, LiveProcess


class CompositeWorkspace:
    """One session's workspace, which delegates to these two parts."""

    def __init__(self, files: Files, commands: Commands) -> None:
        self.cwd = files.cwd
        self.roots = files.roots
        self.is_remote = files.is_remote
        self.locate = files.locate
        self.read = files.read
        self.read_range = files.read_range
        self.differs_from_disk = files.differs_from_disk
        self.write = files.write
        self.remove = files.remove
        self.entries = files.entries
        self.find = files.find
        self.search = files.search
        self.confines = commands.confines
        self.run = commands.run
        self.launch = commands.launch
        self.close = commands.close
        self._commands = commands

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the launched processes that have not been forgotten yet, by their short names."""
        return self._commands.live
