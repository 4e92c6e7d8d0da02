"""People whom the gateway admits, and the pairing codes that admit strangers.

People are identified by stable IDs, of which only hashes are stored. Functions block and raise StorageError.
"""

import hmac
import secrets
import sqlite3
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.storage.gateway.gateway_database import GatewayDatabase

Role = Literal["user", "approver"]
ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_CHARACTERS: Final = 8
CODE_LIFETIME_S: Final = 3_600.0
MAX_PENDING: Final = 3
MAX_FAILURES: Final = 5
FAILURES: Final = "pairing-failures"
LOCKED_UNTIL: Final = "pairing-locked-until"


class Person(Struct, frozen=True):
    """A person whom the operator admitted. An approver can also approve other people's requests."""

    name: str
    role: Role
    profile: str

    @property
    def is_approver(self) -> bool:
        """Whether this person can approve other people's requests."""
        return self.role == "approver"


class Pairing(Struct, frozen=True):
    """The result of entering a code: the admitted person, or the reason why nobody was admitted."""

    outcome: Literal["admitted", "wrong", "locked", "name_taken", "profile_taken"]
    person: Person | None = None
    platform: str = ""


class People:
    """The people of one gateway."""

    def __init__(self, database: GatewayDatabase) -> None:
        self._database = database

    def find(self, platform: str, sender_id: str) -> Person | None:
        """Return the person that a sender belongs to, or None for a stranger."""
        id_hash = self._database.hash(platform, sender_id)

        def select(connection: sqlite3.Connection) -> Person | None:
            row = connection.execute(
                """SELECT name, role, profile FROM identities JOIN people ON name = person
                   WHERE platform = ? AND id_hash = ?""",
                (platform, id_hash),
            ).fetchone()
            return Person(*row) if row else None

        return self._database.transact(select)

    def all(self) -> list[tuple[Person, tuple[str, ...]]]:
        """Return all people with the platforms they use."""

        def select(connection: sqlite3.Connection) -> list[tuple[Person, tuple[str, ...]]]:
            found: list[tuple[Person, tuple[str, ...]]] = []
            for row in connection.execute("SELECT name, role, profile FROM people ORDER BY name").fetchall():
                names = connection.execute(
                    "SELECT platform FROM identities WHERE person = ? ORDER BY platform", (row[0],)
                )
                found.append((Person(*row), tuple(each for (each,) in names)))
            return found

        return self._database.transact(select)

    def set_place(self, platform: str, name: str, place: str) -> None:
        """Store where a person can be reached on a platform."""
        self._database.transact(
            lambda connection: connection.execute(
                "UPDATE identities SET place = ? WHERE platform = ? AND person = ? AND place <> ?",
                (place, platform, name, place),
            )
        )

    def places(self, name: str) -> list[tuple[str, str]]:
        """Return the platforms and places where a person can be reached."""
        return self._database.transact(
            lambda connection: connection.execute(
                "SELECT platform, place FROM identities WHERE person = ? AND place <> ''", (name,)
            ).fetchall()
        )

    def remove(self, name: str) -> bool:
        """Delete a person with all their identities; return whether the person existed."""

        def delete(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM identities WHERE person = ?", (name,))
            return bool(connection.execute("DELETE FROM people WHERE name = ?", (name,)).rowcount)

        return self._database.transact(delete)

    def new_code(self, platform: str, sender_id: str, now: float) -> str:
        """Return a new code for a stranger, or an empty string if too many are pending or the stranger has one."""
        id_hash = self._database.hash(platform, sender_id)
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
        code_hash = self._database.hash("code", code)

        def insert(connection: sqlite3.Connection) -> str:
            connection.execute("DELETE FROM pairings WHERE expires_at <= ?", (now,))
            pending = connection.execute("SELECT count(*) FROM pairings").fetchone()[0]
            if pending >= MAX_PENDING or _locked_until(connection) > now:
                return ""
            inserted = connection.execute(
                "INSERT OR IGNORE INTO pairings VALUES (?, ?, ?, ?)",
                (platform, id_hash, code_hash, now + CODE_LIFETIME_S),
            )
            return code if inserted.rowcount else ""

        return self._database.transact(insert)

    def pending(self, now: float) -> int:
        """Return the number of valid codes that have not been entered yet."""
        return self._database.transact(
            lambda connection: connection.execute(
                "SELECT count(*) FROM pairings WHERE expires_at > ?", (now,)
            ).fetchone()[0]
        )

    def pair(self, code: str, person: Person, now: float, *, shares: bool = False) -> Pairing:
        """Admit the stranger who has the code, under a person's name. A known person gains another identity.

        A second person in a profile can see the first one's sessions, so adding one requires `shares`.
        """
        code_hash = self._database.hash("code", code.strip().upper())

        def admit(connection: sqlite3.Connection) -> Pairing:
            if _locked_until(connection) > now:
                return Pairing("locked")
            rows = connection.execute(
                "SELECT platform, id_hash, code_hash FROM pairings WHERE expires_at > ?", (now,)
            ).fetchall()
            found = [row for row in rows if hmac.compare_digest(row[2], code_hash)]
            if not found:
                return _failed(connection, now)
            known = connection.execute(
                "SELECT name, role, profile FROM people WHERE name = ?", (person.name,)
            ).fetchone()
            if known and Person(*known) != person:
                return Pairing("name_taken", Person(*known))
            others = connection.execute(
                "SELECT name, role, profile FROM people WHERE profile = ? AND name <> ?",
                (person.profile, person.name),
            ).fetchone()
            if others and not shares:
                return Pairing("profile_taken", Person(*others))
            platform, id_hash, _ = found[0]
            connection.execute("DELETE FROM pairings WHERE platform = ? AND id_hash = ?", (platform, id_hash))
            connection.execute(
                "INSERT OR IGNORE INTO people VALUES (?, ?, ?)", (person.name, person.role, person.profile)
            )
            connection.execute(
                "INSERT OR REPLACE INTO identities VALUES (?, ?, ?, '')", (platform, id_hash, person.name)
            )
            connection.execute("DELETE FROM facts WHERE name = ?", (FAILURES,))
            return Pairing("admitted", person, platform)

        return self._database.transact(admit)


def _locked_until(connection: sqlite3.Connection) -> float:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (LOCKED_UNTIL,)).fetchone()
    return float(row[0]) if row else 0.0


def _failed(connection: sqlite3.Connection, now: float) -> Pairing:
    """Count a wrong code. Too many wrong codes invalidate all codes and lock pairing for the lifetime of a code."""
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (FAILURES,)).fetchone()
    failures = int(row[0] if row else 0) + 1
    if failures < MAX_FAILURES:
        connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (FAILURES, str(failures)))
        return Pairing("wrong")
    connection.execute("DELETE FROM facts WHERE name = ?", (FAILURES,))
    connection.execute("DELETE FROM pairings")
    until = str(now + CODE_LIFETIME_S)
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (LOCKED_UNTIL, until))
    return Pairing("locked")
