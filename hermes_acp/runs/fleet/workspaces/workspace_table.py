"""Where the folders of a profile's runs are, and their last stored states. Each function is one transaction.

A folder belongs to one machine at a time: the one that works on runs in it. Another machine takes it over once it has
brought its own copy to the stored state.
"""

from hashlib import sha256
from typing import Final

from msgspec import Struct

from hermes_acp.git.workspace_snapshots import Snapshot
from hermes_acp.runs.tables.table_connection import TableConnection

NAME_CHARACTERS: Final = 16
WITHIN: Final = "({folder} = top OR starts_with({folder}, top || '/'))"
COLUMNS: Final = "top, machine, commit_id, head, branch, origin, stored_at"


class StoredFolder(Struct, frozen=True):
    """The top folder of a repository, the machine to which it belongs, and the last state that this machine has stored.

    `stored_at` is in seconds since the epoch.
    """

    top: str
    machine: str
    state: Snapshot
    stored_at: float

    @property
    def name(self) -> str:
        """The name of the reference for the state, at the address that all machines can reach."""
        return state_name(self.top, self.machine)


def state_name(top: str, machine: str) -> str:
    """Return the reference under which a machine stores the states of a folder; no two machines share one."""
    return f"refs/hermes-acp/workspaces/{sha256(top.encode()).hexdigest()[:NAME_CHARACTERS]}/{machine}"


def stored_folder(connection: TableConnection, folder: str) -> StoredFolder | None:
    """Return the stored state of the repository that contains a folder."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM workspaces WHERE {WITHIN.format(folder=':folder')} ORDER BY length(top) DESC LIMIT 1",
        {"folder": folder},
    ).fetchone()
    if row is None:
        return None
    top, machine, commit, head, branch, origin, stored_at = row
    return StoredFolder(top, machine, Snapshot(commit, head, branch, origin), stored_at)


def store_state(connection: TableConnection, top: str, machine: str, state: Snapshot, now: float) -> bool:
    """Record a state of a folder; return False if the folder now belongs to another machine."""
    done = connection.execute(
        f"""INSERT INTO workspaces ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (top) DO UPDATE SET commit_id = excluded.commit_id, head = excluded.head,
                branch = excluded.branch, origin = excluded.origin, stored_at = excluded.stored_at
            WHERE workspaces.machine = excluded.machine""",
        (top, machine, state.commit, state.head, state.branch, state.origin, now),
    )
    return done.rowcount > 0


def take_folder(connection: TableConnection, seen: StoredFolder, machine: str) -> bool:
    """Take over a folder for this machine; return False if its state has changed since it was seen."""
    done = connection.execute(
        "UPDATE workspaces SET machine = ? WHERE top = ? AND machine = ? AND commit_id = ?",
        (machine, seen.top, seen.machine, seen.state.commit),
    )
    return done.rowcount > 0


def is_busy_elsewhere(connection: TableConnection, run_id: str, machine: str) -> bool:
    """Return whether another machine is working on a run in the same repository as the given run."""
    row = connection.execute(
        f"""SELECT 1 FROM runs AS wanted
            JOIN workspaces ON {WITHIN.format(folder="wanted.spec::json->>'cwd'")}
            JOIN runs AS other ON other.state = 'running' AND {WITHIN.format(folder="other.spec::json->>'cwd'")}
            JOIN workers ON workers.id = other.holder AND workers.machine <> ?
            WHERE wanted.id = ? LIMIT 1""",
        (machine, run_id),
    ).fetchone()
    return row is not None


def preferred_machine(connection: TableConnection, run_id: str, seen_within_s: float) -> str:
    """Return the machine that has a run's folder, if one of its workers was seen recently; else an empty string."""
    row = connection.execute(
        f"""SELECT workspaces.machine FROM runs
            JOIN workspaces ON {WITHIN.format(folder="runs.spec::json->>'cwd'")}
            JOIN workers ON workers.machine = workspaces.machine AND workers.drives_any = 1
                AND workers.seen_at > clock_timestamp() - make_interval(secs => ?)
            WHERE runs.id = ? ORDER BY length(top) DESC LIMIT 1""",
        (seen_within_s, run_id),
    ).fetchone()
    return row[0] if row else ""
