"""Store the tokens that an authorization server issued to this user.

Tokens belong to the address for which they were issued: a different server under the same name does not get them.
"""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import Busy
from hermes_acp.storage.private_files import lock_or_busy, private_folder, storage_error, write_whole

DIGEST_CHARACTERS: Final = 24
POLL_INTERVAL_S: Final = 0.05
MAX_BYTES: Final = 1 << 20


class StoredTokens(Struct, frozen=True):
    """Tokens, and everything needed to renew them, as received; `expires_at_s` is in seconds since the epoch."""

    url: str
    tokens: dict[str, Any]
    client: dict[str, Any]
    authorization_server: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    expires_at_s: float | None = None

    def __repr__(self) -> str:
        return f"Keys(url={self.url!r})"

    @property
    def access(self) -> str:
        """The access token that is sent with requests."""
        return str(self.tokens.get("access_token", ""))


class TokenFile:
    """The file with the tokens for an address."""

    def __init__(self, folder: Path, url: str) -> None:
        address = urlsplit(url)
        host = "".join(letter if letter.isalnum() else "_" for letter in address.hostname or "server")[:60]
        named = (
            f"{address.scheme.lower()}://{address.netloc.lower()}{address.path.rstrip('/')}?{address.query}"
        )
        self._url = url
        self._path = folder / f"{host}-{sha256(named.encode()).hexdigest()[:DIGEST_CHARACTERS]}.json"

    async def read(self) -> StoredTokens | None:
        """Return the stored tokens, or None if there are no usable ones."""
        return await run_sync(self._read)

    async def write(self, keys: StoredTokens) -> None:
        """Replace the stored tokens. Raises StorageError."""
        await run_sync(self._write, keys)

    async def forget(self) -> bool:
        """Delete the stored tokens; return whether there were any. Raises StorageError."""
        return await run_sync(self._forget)

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Lock the file against other writers in any process while the block runs. Raises StorageError."""
        descriptor = await run_sync(self._open_lock)
        try:
            while not _is_locked(descriptor):
                await anyio.sleep(POLL_INTERVAL_S)
            yield
        finally:
            os.close(descriptor)

    def _read(self) -> StoredTokens | None:
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(MAX_BYTES), type=StoredTokens)
        except (OSError, msgspec.DecodeError, RecursionError):
            return None

    def _write(self, keys: StoredTokens) -> None:
        private_folder(self._path.parent)
        try:
            write_whole(self._path, msgspec.json.encode(keys), mode=0o600)
        except OSError as error:
            raise storage_error("write", self._path, error) from error

    def _forget(self) -> bool:
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise storage_error("delete", self._path, error) from error
        return True

    def _open_lock(self) -> int:
        path = self._path.with_suffix(".lock")
        private_folder(path.parent)
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise storage_error("open the lock", path, error) from error


def _is_locked(descriptor: int) -> bool:
    try:
        lock_or_busy(descriptor, "The key file")
    except Busy:
        return False
    return True
