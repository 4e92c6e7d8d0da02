"""The cards of a board as files that a person can read and edit: what was edited, and what is to be written.

Beside each file, its content as it was last written is kept, so that only what a person changed becomes an action. The
board's log stays what counts; files can be deleted, and come back. Everything here blocks.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.card_actions import (
    AddCard,
    ApproveCard,
    CardAction,
    CommentOnCard,
    EditCard,
    LinkCard,
    MoveCard,
    ParkCard,
)
from hermes_acp.core.ports.boards.cards import Card, Link
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.card_documents import CardDocument, parse, render
from hermes_acp.storage.private_files import private_folder, write_private_text

FOLDER: Final = "cards"
BASES: Final = ".written"
REJECTED: Final = ".not-saved"
SUFFIX: Final = ".md"
NUMBER: Final = "number"
MAX_SLUG: Final = 40
MAX_BYTES: Final = 1 << 20
NUMBERED: Final = re.compile(r"(\d+)(?:-[^/]*)?\.md")
NOT_TEXT: Final = "The file is not a text in UTF-8 of at most 1 MB."


class FileEdit(Struct, frozen=True):
    """A file that a person changed or created, and what that means; `problem` says why it means nothing."""

    path: str
    card_id: str
    actions: tuple[CardAction, ...] = ()
    problem: str = ""


class CardFiles:
    """The files of one board."""

    def __init__(self, board_folder: Path, local_time: Callable[[float], str]) -> None:
        """Prepare; nothing is created yet."""
        self.folder = board_folder / FOLDER
        self._bases = self.folder / BASES
        self._local_time = local_time
        self._known: dict[str, tuple[int, int]] | None = None

    @property
    def exists(self) -> bool:
        """Whether the files were ever written."""
        return self.folder.is_dir()

    def edits(self) -> Iterator[FileEdit]:
        """Yield what was edited since the files were written."""
        known = self._untouched() if self._known is None else self._known
        self._known = known
        for name, about in sorted(_listed(self.folder).items()):
            if known.get(name) != about and (edit := self._edit_of(name)):
                yield edit
            known[name] = about

    def is_touched(self) -> bool:
        """Return whether a file is not as this process has left it."""
        return self._known is not None and _listed(self.folder) != self._known

    def write(self, board: Board) -> None:
        """Bring the files up to date with the board. Raises StorageError."""
        private_folder(self._bases)
        written = self._written()
        since = written if written <= board.number else 0
        there = {found[1] for name in _listed(self.folder) if (found := NUMBERED.fullmatch(name))}
        for card_id, number in board.changed.items():
            card = board.cards.get(card_id)
            if card is None and number > since:
                self._remove(card_id)
            elif card and (number > since or card_id not in there):
                self._write(card)
        if written != board.number:
            write_private_text(self._bases / NUMBER, str(board.number))

    def _written(self) -> int:
        """Return the number of the board's entry after which the files were written last."""
        try:
            return int((self._bases / NUMBER).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def _untouched(self) -> dict[str, tuple[int, int]]:
        """Return the files that are as they were written: they are as old as what is kept beside them."""
        bases = _listed(self._bases)
        return {
            name: about
            for name, about in _listed(self.folder).items()
            if (found := NUMBERED.fullmatch(name)) and bases.get(f"{found[1]}{SUFFIX}") == about
        }

    def reject(self, edit: FileEdit, problem: str) -> None:
        """Keep a person's version of a file aside, with the reason why it was not saved. Raises StorageError."""
        path = self.folder / edit.path
        aside = (
            private_folder(self.folder / REJECTED) / f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}{SUFFIX}"
        )
        with suppress(OSError, UnicodeDecodeError):
            write_private_text(aside, f"Not saved: {problem}\n\n{path.read_text(encoding='utf-8')}")
        self._forget(edit)

    def accept(self, edit: FileEdit) -> None:
        """Note that an edit was carried out: the file is written anew."""
        self._forget(edit)

    def _forget(self, edit: FileEdit) -> None:
        if edit.card_id:
            self._base(edit.card_id).unlink(missing_ok=True)
        (self.folder / edit.path).unlink(missing_ok=True)
        if self._known:
            self._known.pop(edit.path, None)

    def _edit_of(self, name: str) -> FileEdit | None:
        """Return what a person did to a file, or None if it is as it was written."""
        path = self.folder / name
        try:
            content = path.read_text(encoding="utf-8")
            if len(content) > MAX_BYTES:
                raise BadRequest(NOT_TEXT)
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError, BadRequest):
            return FileEdit(name, "", problem=NOT_TEXT)
        found = NUMBERED.fullmatch(name)
        base = self._base_of(found[1]) if found else None
        if base == content:
            return None
        try:
            now = parse(content)
            before = parse(base) if base is not None else None
        except BadRequest as error:
            return FileEdit(name, found[1] if found else "", problem=error.sentence())
        if before is None or now.card_id != before.card_id:
            return FileEdit(name, "", tuple(_additions(now)))
        return FileEdit(name, before.card_id, tuple(_changes(before, now)))

    def _base_of(self, card_id: str) -> str | None:
        try:
            return self._base(card_id).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def _base(self, card_id: str) -> Path:
        return self._bases / f"{card_id}{SUFFIX}"

    def _write(self, card: Card) -> None:
        content = render(card, self._local_time)
        name = f"{card.id}-{_slug(card.title)}{SUFFIX}"
        for other in self._files_of(card.id):
            if other.name != name:
                other.unlink(missing_ok=True)
                if self._known:
                    self._known.pop(other.name, None)
        if self._base_of(card.id) == content and (self.folder / name).exists():
            return
        write_private_text(self._base(card.id), content)
        write_private_text(self.folder / name, content)
        about = (self.folder / name).stat()
        os.utime(self._base(card.id), ns=(about.st_mtime_ns, about.st_mtime_ns))
        if self._known is not None:
            self._known[name] = (about.st_mtime_ns, about.st_size)

    def _remove(self, card_id: str) -> None:
        for path in (*self._files_of(card_id), self._base(card_id)):
            path.unlink(missing_ok=True)
            if self._known:
                self._known.pop(path.name, None)

    def _files_of(self, card_id: str) -> list[Path]:
        return [path for path in self.folder.glob(f"{card_id}-*{SUFFIX}") if NUMBERED.fullmatch(path.name)]


def _listed(folder: Path) -> Mapping[str, tuple[int, int]]:
    """Return the time and the size of each file in a folder."""
    found: dict[str, tuple[int, int]] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX) and not entry.name.startswith(".") and entry.is_file():
                about = entry.stat()
                found[entry.name] = (about.st_mtime_ns, about.st_size)
    return found


def _additions(now: CardDocument) -> Iterator[CardAction]:
    links = tuple(sorted(now.links, key=lambda link: (link.kind, link.card_id)))
    yield AddCard(now.title, now.text, "ready" if now.state == "ready" else "inbox", now.work, links)


def _changes(before: CardDocument, now: CardDocument) -> Iterator[CardAction]:
    """Yield what a person changed, in the order in which it is to be carried out."""
    card_id = before.card_id
    title = now.title if now.title != before.title else None
    text = now.text if now.text != before.text else None
    work = now.work if now.work != before.work else None
    if (title, text, work) != (None, None, None):
        yield EditCard(card_id, title, text, work)
    for link in _ordered(before.links - now.links):
        yield LinkCard(card_id, link, is_removed=True)
    for link in _ordered(now.links - before.links):
        yield LinkCard(card_id, link)
    for comment in now.new_comments:
        yield CommentOnCard(card_id, comment)
    if now.state != before.state:
        yield _move(before, now)


def _move(before: CardDocument, now: CardDocument) -> CardAction:
    if before.state == "review" and now.state in ("done", "merging"):
        return ApproveCard(before.card_id)
    if now.state == "parked":
        return ParkCard(before.card_id)
    return MoveCard(before.card_id, now.state)


def _ordered(links: frozenset[Link]) -> list[Link]:
    return sorted(links, key=lambda link: (link.kind, link.card_id))


def _slug(title: str) -> str:
    """Return a title as part of a file's name."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return words[:MAX_SLUG].strip("-") or "card"
