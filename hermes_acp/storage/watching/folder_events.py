"""Report which paths have changed in any number of folders, through one descriptor."""

import os

from hermes_acp.storage.watching.inotify import ATTRIB, IGNORED, MODIFY, NAMES, OVERFLOW, Inotify

CONTENTS = NAMES | MODIFY | ATTRIB


class FolderEvents:
    """The folders that an inotify instance watches, by path. Close it after use.

    Call it from one thread at a time, except `read`, which the owner of the event loop calls.
    """

    def __init__(self) -> None:
        """Open the instance. Raises OSError if the system has none available."""
        self._inotify = Inotify()
        self._paths: dict[int, tuple[str, ...]] = {}
        self._watches: dict[str, int] = {}

    @property
    def descriptor(self) -> int:
        """The descriptor that becomes readable when something changes."""
        return self._inotify.descriptor

    def add(self, folder: str, mask: int) -> None:
        """Watch a folder, or change the mask of an existing watch. Raises OSError."""
        watch = self._inotify.add(folder, mask)
        self.discard(folder, but_for=watch)
        self._watches[folder] = watch
        self._paths[watch] = tuple(dict.fromkeys((*self._paths.get(watch, ()), folder)))

    def discard(self, folder: str, *, but_for: int = -1) -> None:
        """Stop watching a folder, unless it is also reached by another path."""
        watch = self._watches.get(folder, -1)
        if watch in (-1, but_for):
            return
        del self._watches[folder]
        left = tuple(path for path in self._paths.get(watch, ()) if path != folder)
        if left:
            self._paths[watch] = left
        elif self._paths.pop(watch, None):
            self._inotify.remove(watch)

    def read(self) -> set[str]:
        """Return the paths that changed since the last call; "" means every path. Never waits."""
        changed: set[str] = set()
        for change in self._inotify.read():
            if change.mask & OVERFLOW:
                changed.add("")
            elif not change.mask & IGNORED:
                paths = self._paths.get(change.watch, ())
                changed |= {os.path.join(path, change.name) if change.name else path for path in paths}
        return changed

    def close(self) -> None:
        """Stop watching everything; safe to call twice."""
        self._inotify.close()
