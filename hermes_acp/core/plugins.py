"""Plugin folders: every file in such a folder is a plugin that exports the same constant.

The file name is the plugin's public name. A plugin is imported on first use. Installed packages can add plugins of some
kinds through an entry point.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from hermes_acp.core.errors import ConfigError

T = TypeVar("T")


class PluginFolder(Generic[T]):
    """The plugins in one package; each is a module that exports `constant`."""

    def __init__(self, package: str, constant: str) -> None:
        self.package = package
        self.constant = constant

    def names(self) -> tuple[str, ...]:
        """Return the plugins' names, sorted, without importing any of them."""
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


def open_installed(group: str, name: str, *, kind: str, setting: str) -> Any:
    """Import what an installed package provides under an entry point group; return None if no package does.

    Error messages call it a `kind`, chosen by `setting`. Raises ConfigError.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=group, name=name):
        try:
            return point.load()
        except (ImportError, AttributeError) as error:
            package = point.dist.name if point.dist else point.value
            raise ConfigError(
                f"The {kind} {name!r} of the package {package} cannot be loaded: {error}.",
                hint=f"Install the package again, or choose another `{setting}`.",
            ) from error
    return None
