"""Report changes to the context files while a session is open.

The prompt keeps what was shown first; updates are appended.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.context.context_consent import Consent
from hermes_acp.context.context_diffs import changed_lines, with_changed_lines
from hermes_acp.context.context_files import (
    INTRODUCTION,
    ContextFile,
    ContextFiles,
    FileRefusal,
    Fingerprint,
    collect_context,
    collect_context_below,
    fenced,
    fingerprint,
)
from hermes_acp.context.context_notices import file_notices
from hermes_acp.context.context_search import ContextCandidate, SearchScope, folders_below, main_root

CHANGED: Final = "[A context file changed. It says now:]"
CHANGED_LINES: Final = "[A context file changed. These lines changed; the others are as you know them:]"
FILE_ADDED: Final = "[There is a new context file. It says:]"
FOUND: Final = (
    "[You came to a folder with a context file of its own. Where it disagrees with others, it wins there:]"
)
GONE: Final = "[The context file {path} is not in force any more: {why} What it said holds no longer.]"
FILE_REMOVED: Final = re.compile(r"\[The context file (.+?) is not in force any more: ")
HEAD: Final = re.compile(r"## (.+?)(?: \(the same as .*\))?")
FENCE: Final = re.compile(r"`{3,}")
DELETED: Final = "it was deleted."
MAX_FOLDERS: Final = 400


class ContextUpdate(Struct, frozen=True):
    """An update: `text` for the model (empty if it need not know), and `told` for the user."""

    text: str
    told: str


class WithheldFile(Struct, frozen=True):
    """A file that is not used until the user approves it: its path on disk (`file`) and all of its `text`.

    `old_block` is the form in which the model was last shown it, or None if it was not.
    """

    path: str
    file: str
    digest: str
    text: str
    old_block: str | None = None

    @property
    def old_text(self) -> str | None:
        """The text that the model was last shown, without heading and fences."""
        return None if self.old_block is None else "\n".join(self.old_block.split("\n")[2:-1]) + "\n"


class ContextUpdates:
    """Tracks a session's context files relative to what its model has been shown."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._shown_digests: set[str] = set()
        self._set_aside: set[str] = set()
        self._allowed: frozenset[str] = frozenset()
        self._mark: Fingerprint | None = None
        self._touched: set[str] = set()
        self._below: tuple[Path, ...] = ()
        self._known: frozenset[str] = frozenset()
        self._at_first: frozenset[tuple[str, int, int]] = frozenset()
        self._refused: frozenset[FileRefusal] = frozenset()
        self.imports: Mapping[str, str] = {}
        """The imports of the files in use: each file's real path with the name of the importer."""

    def begin(self, place: SearchScope, shown: Mapping[str, str]) -> None:
        """Treat the current files as known: the model has been `shown` them, and the user knows which are unused."""
        self._known = frozenset(shown)
        self._mark = self._look_at(place)
        self._at_first = frozenset(self._mark)

    def allow(self, allowed: frozenset[str]) -> None:
        """Set what the user allows now (`allowed_texts`); if that has changed, everything is checked again."""
        if allowed != self._allowed:
            self._allowed = allowed
            self.forget()

    def forget(self) -> None:
        """Compare everything again, for example because the conversation lost what the model was shown."""
        self._mark = None

    def set_aside(self, digest: str) -> None:
        """Stop asking about this content, because nobody can answer."""
        self._set_aside.add(digest)

    def look(
        self,
        place: SearchScope,
        shown: Callable[[], Mapping[str, str]],
        touched: Iterable[str],
        consent: Consent,
    ) -> tuple[list[ContextUpdate], list[WithheldFile]]:
        """Return the updates, and the files that are withheld until someone answers.

        `shown` returns the files as the model was shown them; `touched` lists the files with which it has worked.
        """
        is_fresh = self._come_to(place, touched)
        mark = self._look_at(place)
        if mark == self._mark and not is_fresh:
            return [], []
        before = shown()
        gathered, below = self._gather(place, before, consent)
        news = self._compare(place, gathered, below, before)
        withheld = self._withheld(gathered, below, before, consent)
        after = self._look_at(place)  # includes the imports
        self._mark = after if set(mark) <= set(after) and not withheld else None
        return news, withheld

    def _gather(
        self, place: SearchScope, before: Mapping[str, str], consent: Consent
    ) -> tuple[ContextFiles, ContextFiles]:
        """Read the usable files; a file that has already been shown is always usable."""
        while True:
            gathered = collect_context(place, allowed=self._allowed, admits=self._admits(consent))
            below = collect_context_below(place, self._below, self._allowed, self._admits(consent))
            same = {
                file.digest
                for file in (*gathered.withheld, *below.withheld)
                if before.get(file.path) == self._block(file)
            }
            if same <= self._shown_digests:
                self.imports = {**below.imports, **gathered.imports}
                return gathered, below
            self._shown_digests |= same

    def _admits(self, consent: Consent) -> Callable[[ContextCandidate, str], bool]:
        return lambda candidate, digest: digest in self._shown_digests or consent.admits(candidate, digest)

    def _withheld(
        self, gathered: ContextFiles, below: ContextFiles, before: Mapping[str, str], consent: Consent
    ) -> list[WithheldFile]:
        known = self._set_aside | consent.answers.keys()
        files = {file.digest: file for file in (*gathered.withheld, *below.withheld)}
        return [
            WithheldFile(
                file.path, os.path.join(gathered.root, file.path), digest, file.text, before.get(file.path)
            )
            for digest, file in files.items()
            if digest not in known
        ]

    def _look_at(self, place: SearchScope) -> Fingerprint:
        root = main_root(place)
        return fingerprint(place, self._below, [root / path for path in sorted(self._known)])

    def _compare(
        self, place: SearchScope, gathered: ContextFiles, below: ContextFiles, before: Mapping[str, str]
    ) -> list[ContextUpdate]:
        at_first = {file.path: file for file in gathered.files}
        later = {file.path: file for file in below.files if file.path not in at_first}
        withheld = {file.path for file in (*gathered.withheld, *below.withheld)}
        self._known = frozenset(at_first.keys() | later.keys() | withheld)
        root = str(main_root(place))
        news = [
            self._tell(file, root, before, file.path in later)
            for file in (at_first | later).values()
            if before.get(file.path) != self._block(file)
        ]
        refusals = (*gathered.refusals, *below.refusals)
        gone = self._gone(root, before.keys() - self._known, refusals)
        return [*news, *gone, *self._not_used(place, frozenset(refusals), before)]

    def _tell(self, file: ContextFile, root: str, before: Mapping[str, str], is_later: bool) -> ContextUpdate:
        block = self._block(file)
        if file.path in before:
            lines = changed_lines(before[file.path], block)
            text, what = (f"{CHANGED_LINES}\n\n{lines}" if lines else f"{CHANGED}\n\n{block}"), "changed"
        elif is_later:
            text, what = f"{FOUND}\n\n{block}", "is read too"
        else:
            text, what = f"{FILE_ADDED}\n\n{block}", "is new"
        told = (f"{file.path} {what}; the agent was told.", *file_notices(file, root))
        return ContextUpdate(text, " ".join(told))

    def _block(self, file: ContextFile) -> str:
        return self._clean(fenced(file))

    def _gone(
        self, root: str, paths: Iterable[str], refusals: Iterable[FileRefusal]
    ) -> Iterator[ContextUpdate]:
        refused = {refusal.path: refusal.why for refusal in refusals}
        for path in sorted(paths):
            is_there = os.path.lexists(os.path.join(root, path))
            why = refused.get(path) if is_there else DELETED
            if why:
                told = f"{path} is not in force any more; the agent was told: {why}"
                yield ContextUpdate(GONE.format(path=path, why=why), told)

    def _not_used(
        self, place: SearchScope, refused: frozenset[FileRefusal], before: Mapping[str, str]
    ) -> Iterator[ContextUpdate]:
        """Report files that are not used, once each; those at the start have already been reported."""
        new = refused - self._refused
        self._refused = refused
        told = {path for path, *stamp in self._look_at(place) if (path, *stamp) in self._at_first}
        for refusal in sorted(new, key=lambda each: each.path):
            if refusal.path not in before and refusal.file not in told:
                yield ContextUpdate("", f"{refusal.path} is not used: {refusal.why}")

    def _come_to(self, place: SearchScope, touched: Iterable[str]) -> bool:
        """Record the folders of files the model has worked with; return whether any of them is new to it."""
        new = {os.path.dirname(path) for path in touched} - self._touched
        if not new or len(self._touched) > MAX_FOLDERS:
            return False
        self._touched |= new
        folders = {*self._below, *folders_below(place, new)}
        is_fresh = len(folders) > len(self._below)
        self._below = tuple(sorted(folders))
        return is_fresh


def shown_files(texts: Iterable[str]) -> dict[str, str]:
    """Return the context files in a prompt's layers and later notes, each as last shown."""
    shown: dict[str, str] = {}
    for text in texts:
        if gone := FILE_REMOVED.match(text):
            shown.pop(gone.group(1), None)
        elif text.startswith(CHANGED_LINES):
            told = dict(_blocks(text))
            shown.update({path: with_changed_lines(shown.get(path, ""), told[path]) for path in told})
        elif text.startswith((CHANGED, FILE_ADDED, FOUND)):
            shown.update(_blocks(text))
        elif INTRODUCTION in text:
            shown.update(_blocks(text.partition(INTRODUCTION)[2]))
    return shown


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the files that a text shows, each with its heading and everything between its fences."""
    lines = text.split("\n")
    at = 0
    while at + 1 < len(lines):
        head, fence = HEAD.fullmatch(lines[at]), lines[at + 1]
        if head and FENCE.fullmatch(fence) and fence in lines[at + 2 :]:
            end = lines.index(fence, at + 2)
            yield head.group(1), "\n".join(lines[at : end + 1])
            at = end
        at += 1
