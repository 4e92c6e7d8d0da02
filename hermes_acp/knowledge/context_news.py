"""What is new about the context files while a session is open.

Knows: which files changed since the model was shown them, and which lie in folders it has only now come to. Does not
know: how a model is told. What was shown stays in the prompt as it was; news come behind it.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.knowledge.context_files import (
    ContextFile,
    Fingerprint,
    fenced,
    fingerprint,
    gather,
    gather_below,
)
from hermes_acp.knowledge.context_search import Place, main_root

CHANGED: Final = "[A context file changed. It says now:]"
FOUND: Final = (
    "[You came to a folder with a context file of its own. Where it disagrees with others, it wins there:]"
)
MOST_FOLDERS: Final = 400


class News(Struct, frozen=True):
    """Something to tell: `text` for the model, `told` for its user in a sentence."""

    text: str
    told: str


class ContextNews:
    """One session's watch over its context files, from what its model has been shown."""

    def __init__(self, clean: Callable[[str], str], allowed: frozenset[str]) -> None:
        self._clean = clean
        self._allowed = allowed
        self._mark: Fingerprint | None = None
        self._folders: set[str] = set()

    def begin(self, place: Place) -> None:
        """Take what is there now as known: the model is being shown it."""
        self._mark = fingerprint(place)

    def look(self, place: Place, shown: Callable[[], str], touched: Iterable[str]) -> list[News]:
        """Give what is new; `shown` is all the model was shown, `touched` the files it has to do with. Blocks."""
        mark = fingerprint(place)
        news: list[News] = []
        if mark != self._mark:
            self._mark = mark
            known = shown()
            news += (
                self._tell(file, CHANGED, "changed")
                for file in self._fresh(gather(place, allowed=self._allowed).files, known)
            )
        fresh = self._new_folders(place, touched)
        if fresh:
            below = gather_below(place, fresh, self._allowed)
            news += (self._tell(file, FOUND, "is read too") for file in self._fresh(below, shown()))
        return news

    def _fresh(self, files: Iterable[ContextFile], known: str) -> list[ContextFile]:
        return [file for file in files if self._clean(fenced(file)) not in known]

    def _tell(self, file: ContextFile, head: str, what: str) -> News:
        return News(f"{head}\n\n{self._clean(fenced(file))}", f"{file.path} {what}; the agent was told.")

    def _new_folders(self, place: Place, touched: Iterable[str]) -> list[Path]:
        """Give the folders between the working directory and what was touched that were not looked into yet."""
        cwd, root = Path(os.path.realpath(place.cwd)), main_root(place)
        above = {cwd, *cwd.parents}
        fresh: set[Path] = set()
        for path in touched:
            folder = os.path.dirname(path)
            if folder in self._folders or len(self._folders) > MOST_FOLDERS:
                continue
            self._folders.add(folder)
            way = (Path(folder), *Path(folder).parents)
            fresh.update(each for each in way if each.is_relative_to(root) and each not in above)
        return sorted(fresh)
