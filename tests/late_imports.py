"""Import large packages when a test first uses them: every worker reads every test file, and one worker runs it."""

from importlib import import_module
from typing import Any


class LateModule:
    """Replaces a module, and imports it when one of its names is requested."""

    def __init__(self, name: str) -> None:
        self._module_name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks every global of a test file for such names.
            raise AttributeError(name)
        return getattr(import_module(self._module_name), name)
