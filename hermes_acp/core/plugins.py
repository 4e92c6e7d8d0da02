"""A plugin folder: a folder in which every file is a plugin exporting the same one constant.

Knows: how to list leaves by file name without importing them, and how to import one on first use.
Does not know: what any leaf does. A leaf's file name is its public name.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Generic, TypeVar

T = TypeVar("T")


class PluginFolder(Generic[T]):
    """The leaves of one package, each a module exporting `constant`."""

    def __init__(self, package: str, constant: str) -> None:
        self.package = package
        self.constant = constant

    def names(self) -> tuple[str, ...]:
        """List the leaves, sorted, from their file names alone."""
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
        """Import one leaf and give its constant. Raises KeyError for a name that is no leaf."""
        if name not in self:
            raise KeyError(name)
        return getattr(import_module(f"{self.package}.{name}"), self.constant)
