"""A workspace put together of files and of commands, which know nothing of each other.

Knows: both ports. Does not know: where either is.
"""

from collections.abc import Mapping

from hermes_acp.core.ports import Commands, Files, LiveProcess


class Machine:
    """One session's workspace: what it does is what its two parts do."""

    def __init__(self, files: Files, commands: Commands) -> None:
        self.cwd = files.cwd
        self.roots = files.roots
        self.is_far = files.is_far
        self.locate = files.locate
        self.read = files.read
        self.read_to_change = files.read_to_change
        self.read_piece = files.read_piece
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
        """Give the processes that were launched and not forgotten yet, by their short names."""
        return self._commands.live
