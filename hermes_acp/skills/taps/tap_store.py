"""The taps that a user added, each with its address, its publisher's key, and the newest index seen."""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.skills.taps.tap_index import TapIndex
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import storage_error, write_whole

TAP_NAME: Final = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")
MAX_NAME_CHARACTERS: Final = 64


class FormerKey(Struct, frozen=True):
    """A key that its publisher replaced, and when the change was seen, in seconds since the epoch."""

    key: str
    replaced_at: float


class Tap(Struct, frozen=True):
    """A tap.

    `key` is its publisher's public key, which was pinned when the user added the tap or named by its predecessor.

    `commit` and `index` are the newest verified ones; `added_at` is in seconds since the epoch. Nothing signed by
    one of the `former_keys` is accepted, and nothing at all if the key `is_revoked`.
    """

    url: str
    key: str
    commit: str
    index: TapIndex
    added_at: float
    former_keys: tuple[FormerKey, ...] = ()
    is_revoked: bool = False


class TapFile(Struct, frozen=True):
    """The taps, by name."""

    version: int = 1
    taps: dict[str, Tap] = {}


class TapStore:
    """The file with the taps of a home folder. Blocks."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = home / "taps.json"

    def taps(self) -> Mapping[str, Tap]:
        """Return the taps by name. Raises StorageError."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=TapFile).taps
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise storage_error("read", self._file, error) from error
        except msgspec.MsgspecError as error:
            raise StorageError(
                f"{self._file} cannot be read: {error}.", hint="Repair it, or move it away."
            ) from error

    def find(self, name: str) -> Tap:
        """Return a tap. Raises BadRequest for an unknown name, or StorageError."""
        taps = self.taps()
        if name not in taps:
            raise BadRequest(
                f"There is no tap {name!r}.",
                hint=f"Taps: {', '.join(taps) or 'none'}. `hermes-acp skills taps add URL` adds one.",
            )
        return taps[name]

    def put(self, name: str, tap: Tap | None) -> None:
        """Store a tap, or remove it. Raises StorageError."""
        with self.locked():
            taps = {each: known for each, known in self.taps().items() if each != name}
            if tap:
                taps[name] = tap
            encoded = msgspec.json.format(msgspec.json.encode(TapFile(taps=taps), order="sorted"), indent=2)
            try:
                write_whole(self._file, encoded + b"\n", mode=0o600)
            except OSError as error:
                raise storage_error("write", self._file, error) from error

    def locked(self) -> AbstractContextManager[None]:
        """Lock the taps against changes by other processes."""
        return file_lock(self._home / "history" / "taps.lock")


def tap_name(url: str, given: str = "") -> str:
    """Return a tap's name: the given one, or the last part of its address. Raises BadRequest."""
    name = given or url.rstrip("/").rpartition("/")[2].removesuffix(".git").lower()
    if not TAP_NAME.fullmatch(name) or len(name) > MAX_NAME_CHARACTERS:
        raise BadRequest(
            f"{name[:80]!r} is not a valid tap name.",
            hint="With --name, choose a name of lower-case letters, digits, dots and hyphens.",
        )
    return name
