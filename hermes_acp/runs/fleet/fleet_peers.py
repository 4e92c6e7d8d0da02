"""The workers of a fleet: those of this machine are known by their locks, others by when they were last seen."""

import os
import socket
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from anyio.to_thread import run_sync

from hermes_acp.runs.leases.worker_presence import LocalPeers, boot_id, presence_of
from hermes_acp.runs.tables.table_connection import TableConnection
from hermes_acp.storage.private_files import private_folder

MACHINE_CHARACTERS: Final = 12
FORGOTTEN_DAYS: Final = 7
"""Days after which a worker that nobody has seen is forgotten."""


def machine_of(folder: Path) -> str:
    """Return an ID of this machine, since its start, and of the folder with its workers' locks. Blocks.

    Raises StorageError.
    """
    private_folder(folder)
    found = folder.stat()
    facts = f"{boot_id()}/{socket.gethostname()}/{found.st_dev}/{found.st_ino}"
    return sha256(facts.encode()).hexdigest()[:MACHINE_CHARACTERS]


def worker_id(machine: str, kind: str) -> str:
    """Return a new ID of a worker of a machine."""
    return f"{kind}_{machine}_{os.urandom(4).hex()}"


class FleetPeers:
    """The workers of all machines; implements `Peers`. Whether those elsewhere are gone is never known at once."""

    def __init__(self, folder: Path, machine: str) -> None:
        """Prepare; `folder` has the locks of this machine's workers."""
        self._machine = machine
        self._local = LocalPeers(folder)

    async def is_gone(self, holder: str) -> bool:
        """Return whether a worker's process is known to be gone. Raises StorageError."""
        return f"_{self._machine}_" in holder and await self._local.is_gone(holder)

    async def forget(self, holder: str) -> None:
        """Remove the files of a worker of this machine."""
        await self._local.forget(holder)


def register_worker(
    connection: TableConnection,
    worker: str,
    machine: str,
    places: tuple[str, ...],
    now: float,
    *,
    drives_any: bool,
) -> None:
    """Note that a worker is there, and forget those that were killed long ago.

    `drives_any` is False for one that drives a single run.
    """
    connection.execute(
        "DELETE FROM workers WHERE seen_at < clock_timestamp() - make_interval(days => ?)", (FORGOTTEN_DAYS,)
    )
    connection.execute(
        """INSERT INTO workers (id, boot, since, machine, places, drives_any, seen_at)
           VALUES (?, ?, ?, ?, ?, ?, clock_timestamp())""",
        (worker, boot_id(), now, machine, msgspec.json.encode(places).decode(), int(drives_any)),
    )


def note_seen(connection: TableConnection, worker: str) -> None:
    """Note that a worker is still there."""
    connection.execute("UPDATE workers SET seen_at = clock_timestamp() WHERE id = ?", (worker,))


def unregister_worker(connection: TableConnection, worker: str) -> None:
    """Note that a worker is gone. What it held stays its own until it is given back or taken over."""
    connection.execute("DELETE FROM workers WHERE id = ?", (worker,))


def seen_workers(connection: TableConnection, place: str, within_s: float) -> list[tuple[str, str]]:
    """Return the IDs and machines of the workers of a place that were seen lately."""
    rows = connection.execute(
        """SELECT id, machine, places FROM workers
           WHERE drives_any = 1 AND seen_at > clock_timestamp() - make_interval(secs => ?)""",
        (within_s,),
    )
    return [(worker, machine) for worker, machine, places in rows if place in msgspec.json.decode(places)]


async def any_is_there(workers: list[tuple[str, str]], folder: Path, machine: str) -> bool:
    """Return whether one of some workers is there, as far as this machine knows."""

    def look() -> bool:
        return any(where != machine or presence_of(folder, worker) == "alive" for worker, where in workers)

    return await run_sync(look)
