"""Plugin folders: every file in the folder is a plugin that exports the same constant.

The file name is the plugin's public name. A plugin is imported on first use.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Generic, TypeVar

T = TypeVar("T")


class PluginFolder(Generic[T]):
    """The plugins of one package; each is a module that exports `constant`."""

    def __init__(self, package: str, constant: str) -> None:
        self.package = package
        self.constant = constant

    def names(self) -> tuple[str, ...]:
        """List the plugins' file names, sorted, without importing any."""
        return self._names

    @cached_property
    def _names(self) -> tuple[str, ...]:
        spec = find_spec(self.package)
        folders = spec.submodule_search_locations if spec else None
        found = {name[:-3] for folder in folders or () for name in os.listdir(folder) if name.endswith(".py")}
        return tuple(sorted(name for name in found if not name.startswith("_")))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.isidentifier() and name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def open(self, name: str) -> T:
        """Import a plugin and return its constant. Raises KeyError for an unknown name."""
        if name not in self:
            raise KeyError(name)
        return getattr(import_module(f"{self.package}.{name}"), self.constant)
