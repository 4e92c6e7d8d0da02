"""The cards of a board as files that people can read and edit: detect edits, and write updates.

The last written content of each file is stored next to it, so that only a person's changes become actions. The board's
log is authoritative: deleted files are written again. All methods block.
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
from hermes_acp.storage.private_files import private_folder, storage_error, write_private_text

FOLDER: Final = "cards"
BASES: Final = ".written"
REJECTED: Final = ".not-saved"
DONE: Final = "done"
SUFFIX: Final = ".md"
NUMBER: Final = "number"
MAX_SLUG: Final = 40
MAX_BYTES: Final = 1 << 20
QUIET_S: Final = 0.2
"""The age in seconds at which a changed file counts as complete, because a program may write it in several parts."""
NUMBERED: Final = re.compile(r"(\d+)(?:-[^/]*)?\.md")
NOT_TEXT: Final = "The file must be UTF-8 text of at most 1 MB."


class FileEdit(Struct, frozen=True):
    """A file that a person changed or created, with the resulting actions or, if there are none, the `problem`."""

    path: str
    card_id: str
    actions: tuple[CardAction, ...] = ()
    problem: str = ""


class CardFiles:
    """The files of one board. Those of finished cards are stored separately and not read again."""

    def __init__(self, board_folder: Path, local_time: Callable[[float], str]) -> None:
        """Store the arguments; nothing is created yet."""
        self.folder = board_folder / FOLDER
        self._bases = self.folder / BASES
        self._local_time = local_time
        self._known: dict[str, tuple[int, int]] | None = None

    def edits(self) -> Iterator[FileEdit]:
        """Yield the edits made since the files were last written."""
        listed = _listed(self.folder)
        known = self._untouched(listed) if self._known is None else self._known
        self._known = known
        for name in known.keys() - listed.keys():
            del known[name]
        for name, about in sorted(listed.items()):
            if known.get(name) != about and (edit := self._edit_of(name)):
                yield edit
            known[name] = about

    def settles_in_s(self, now: float) -> float:
        """Return in how many seconds all changed files will count as complete, unless they change again.

        `now` is in seconds since the epoch.
        """
        listed = _listed(self.folder)
        known = self._untouched(listed) if self._known is None else self._known
        ages = [now - about[0] / 1e9 for name, about in listed.items() if known.get(name) != about]
        return max((QUIET_S - age for age in ages if abs(age) < QUIET_S), default=0.0)

    def is_touched(self) -> bool:
        """Return whether any file has changed since this process wrote it."""
        return self._known is not None and _listed(self.folder) != self._known

    def write(self, board: Board) -> None:
        """Update the files to a state of the board no older than the last call of `edits`. Raises StorageError."""
        private_folder(self._bases)
        private_folder(self.folder / DONE)
        known = {} if self._known is None else self._known
        names = {found[1]: name for name in known if (found := NUMBERED.fullmatch(name))}
        written = self._written()
        since = written if written <= board.number else 0
        for card_id, number in board.changed.items():
            card, name = board.cards.get(card_id), names.get(card_id, "")
            if number > since or (card and not name and card.state != "done"):
                self._replace(card_id, card, name, known)
        if written != board.number:
            _put(self._bases / NUMBER, str(board.number))

    def _written(self) -> int:
        """Return the number of the last log entry that the files reflect."""
        try:
            return int((self._bases / NUMBER).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def _untouched(self, listed: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
        """Return the unedited files, recognised by having the same times as the stored copies."""
        bases = _listed(self._bases)
        return {
            name: about
            for name, about in listed.items()
            if (found := NUMBERED.fullmatch(name)) and bases.get(f"{found[1]}{SUFFIX}") == about
        }

    def reject(self, edit: FileEdit, problem: str) -> None:
        """Store a person's version of a file separately, with the reason why it was not saved. Raises StorageError."""
        path = self.folder / edit.path
        aside = (
            private_folder(self.folder / REJECTED) / f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}{SUFFIX}"
        )
        with suppress(OSError, UnicodeDecodeError):
            write_private_text(aside, f"Not saved: {problem}\n\n{path.read_text(encoding='utf-8')}")
        self._forget(edit)

    def accept(self, edit: FileEdit) -> None:
        """Record that an edit was carried out, so that the file is rewritten."""
        self._forget(edit)

    def _forget(self, edit: FileEdit) -> None:
        if edit.card_id:
            self._base(edit.card_id).unlink(missing_ok=True)
        (self.folder / edit.path).unlink(missing_ok=True)
        if self._known is not None:
            self._known.pop(edit.path, None)

    def _edit_of(self, name: str) -> FileEdit | None:
        """Return a person's edit of a file, or None if the file is unedited."""
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

    def _replace(self, card_id: str, card: Card | None, name: str, known: dict[str, tuple[int, int]]) -> None:
        """Write a card's file, or remove it if the card does not exist. A file edited in the meantime is left alone."""
        if name and _about(self.folder / name) not in (known[name], None):
            return
        is_done = card is not None and card.state == "done"
        now = f"{card.id}-{_slug(card.title)}{SUFFIX}" if card else ""
        if name and (name != now or is_done):
            (self.folder / name).unlink(missing_ok=True)
            known.pop(name, None)
        if card is None:
            self._base(card_id).unlink(missing_ok=True)
        elif is_done:
            _put(self.folder / DONE / now, render(card, self._local_time))
        else:
            content = render(card, self._local_time)
            if name == now and self._base_of(card_id) == content:
                return
            _put(self._base(card_id), content)
            known[now] = _put(self.folder / now, content)
            os.utime(self._base(card_id), ns=(known[now][0], known[now][0]))
            (self.folder / DONE / now).unlink(missing_ok=True)


def _put(path: Path, text: str) -> tuple[int, int]:
    """Replace a private file atomically, without fsync, because it can be recreated. Raises StorageError."""
    draft = path.with_name(f".{path.name}.new")
    try:
        descriptor = os.open(
            draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        with open(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        os.replace(draft, path)
        about = path.stat()
    except OSError as error:
        raise storage_error("write the card", path, error) from error
    return about.st_mtime_ns, about.st_size


def _about(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


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
    """Yield a person's changes, in the order in which they must be carried out."""
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
    """Convert a title to a part of a file name."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return words[:MAX_SLUG].strip("-") or "card"
