"""The workers of a fleet. Those on this machine are known by their locks, others by when they were last seen."""

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
"""The number of days after which a worker that was not seen is deleted."""


def machine_of(folder: Path) -> str:
    """Return an ID for this machine, its current boot and the folder with its workers' locks. Blocks.

    Raises StorageError.
    """
    private_folder(folder)
    found = folder.stat()
    facts = f"{boot_id()}/{socket.gethostname()}/{found.st_dev}/{found.st_ino}"
    return sha256(facts.encode()).hexdigest()[:MACHINE_CHARACTERS]


def worker_id(machine: str, kind: str) -> str:
    """Return a new ID for a worker on a machine."""
    return f"{kind}_{machine}_{os.urandom(4).hex()}"


class FleetPeers:
    """The workers on all machines; implements `Peers`.

    The death of a worker on another machine is never detected immediately.
    """

    def __init__(self, folder: Path, machine: str) -> None:
        """Store the folder with the locks of this machine's workers."""
        self._machine = machine
        self._local = LocalPeers(folder)

    async def is_gone(self, holder: str) -> bool:
        """Return whether a worker's process is known to be gone. Raises StorageError."""
        return f"_{self._machine}_" in holder and await self._local.is_gone(holder)

    async def forget(self, holder: str) -> None:
        """Remove the files of a worker on this machine."""
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
    """Register a worker, and delete those that were killed long ago.

    `drives_any` is False for a worker that works on a single run only.
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
    """Record that a worker is alive."""
    connection.execute("UPDATE workers SET seen_at = clock_timestamp() WHERE id = ?", (worker,))


def unregister_worker(connection: TableConnection, worker: str) -> None:
    """Unregister a worker. It keeps its claims until they are released or taken over."""
    connection.execute("DELETE FROM workers WHERE id = ?", (worker,))


def seen_workers(connection: TableConnection, place: str, within_s: float) -> list[tuple[str, str]]:
    """Return the IDs and machines of the workers for a place that were seen recently."""
    rows = connection.execute(
        """SELECT id, machine, places FROM workers
           WHERE drives_any = 1 AND seen_at > clock_timestamp() - make_interval(secs => ?)""",
        (within_s,),
    )
    return [(worker, machine) for worker, machine, places in rows if place in msgspec.json.decode(places)]


async def any_is_there(workers: list[tuple[str, str]], folder: Path, machine: str) -> bool:
    """Return whether any of the workers is alive, as far as this machine can tell."""

    def look() -> bool:
        return any(where != machine or presence_of(folder, worker) == "alive" for worker, where in workers)

    return await run_sync(look)
