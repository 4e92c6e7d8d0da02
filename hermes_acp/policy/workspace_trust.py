"""Workspace trust: what users have allowed in each folder, and which of its files may be used as a result.

Trust is bound to content: after a change, an entry counts as new and the user is asked again. Rules that only ask or
deny need no trust, because they make the policy stricter.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import CallStatus, Grant, PermissionAnswer
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
)
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.ports.gate_ports import Gate, PermissionResponse, PermissionScope
from hermes_acp.core.ports.runtime_ports import Ids
from hermes_acp.core.ports.trust_ports import REJECTED, TrustedItem, TrustItem, TrustKind
from hermes_acp.storage.workspace_entries import WorkspaceEntries

if TYPE_CHECKING:
    from hermes_acp.config.workspace_settings import WorkspaceSettings
    from hermes_acp.core.ports.session_ports import EventSink, RecordedSession

UNTRUSTED: Final = "Not used, because you have not trusted it: {names} in {place}. `/trust` asks again."
TRUSTED, NOT_TRUSTED = "Trusted.", "Not trusted."
"""The text of the question's card. The notice after it states the consequences."""
WHY: Final = "it can run code or loosen your rules"
KINDS: Final[Mapping[TrustKind, str]] = MappingProxyType(
    {
        "mcp_server": "MCP server",
        "prompt": "prompt file",
        "context_file": "context file",
        "variables": "variables for commands",
    }
)
"""Display names for those kinds of items whose display name differs from the kind."""
TRUST_CARD_PARENT: Final = "welcome"
"""The call ID of a trust question, which is not one of the model's calls: the model does not see the question."""
TRUST_SCOPE: Final = "what is listed, until it changes,"
Marks = tuple[tuple[int, int, int], ...]

TrustItemsOf = Callable[[str], tuple[TrustItem, ...]]


class WorkspaceTrust:
    """One user's decisions for every workspace; implements both `WorkspacePolicyStore` and `Trust`."""

    def __init__(self, environment: Environment, ids: Ids, brings: TrustItemsOf = lambda _: ()) -> None:
        """Store the arguments; nothing is read until first use.

        `brings` returns what else a trusted workspace provides, such as its skills. The user is not asked about those
        in advance. `brings` blocks on disk access.
        """
        self._trust_items = brings
        home = environment.home
        self._private = environment.private_folder
        self._ids = ids
        self.trusted = WorkspaceEntries(home / "trust.json", TrustedItem)
        self.answers = WorkspaceEntries(home / "permissions.json", Grant)
        self._trusted_by_process: dict[str, set[TrustedItem]] = {}
        self._distrusted: set[str] = set()
        self._found: dict[str, tuple[Marks, WorkspaceSettings]] = {}
        self._asked: WeakKeyDictionary[RecordedSession, set[TrustItem]] = WeakKeyDictionary()
        self._told: WeakKeyDictionary[RecordedSession, set[str]] = WeakKeyDictionary()

    def rules(self, place: str) -> Sequence[Rule]:
        """Return a workspace's own rules: all that ask or deny and, if they are trusted, those that allow."""
        found = self.settings_of(place)
        if found is None or not found.rules:
            return ()
        is_trusted = found.rules_item is not None and self.is_trusted(place, found.rules_item)
        return tuple(rule for rule in found.rules if is_trusted or rule.decision != "allow")

    def grants(self, place: str) -> Sequence[Grant]:
        """Return the standing grants for all sessions in a folder."""
        return self.answers.of(os.path.realpath(place))

    def remember(self, place: str, grants: Sequence[Grant]) -> None:
        """Store standing grants for later sessions in a folder. Raises StorageError."""
        fresh = {(grant.kind, grant.subject) for grant in grants}
        self.answers.change(
            os.path.realpath(place),
            lambda kept: (*(each for each in kept if (each.kind, each.subject) not in fresh), *grants),
        )

    def is_distrusted(self, place: str) -> bool:
        """Return whether the editor does not trust a folder, so that nothing in it is used."""
        return os.path.realpath(place) in self._distrusted

    def is_trusted(self, place: str, item: TrustItem) -> bool:
        """Return whether an item may be used with exactly its current content."""
        place = os.path.realpath(place)
        wanted = TrustedItem(item.kind, item.name, item.digest)
        if place in self._distrusted:
            return False
        return wanted in self._trusted_by_process.get(place, ()) or wanted in self.trusted.of(place)

    def settings_of(self, place: str, *, again: bool = False) -> "WorkspaceSettings | None":
        """Return a workspace's settings, read again if a file has changed, or None if it has none.

        `again` forces a new read, because files named in its servers' command lines may have changed too.
        """
        place = os.path.realpath(place)
        marks = _marks_of(place)
        if not any(mark != NOTHING for mark in marks):
            return None
        before = self._found.get(place)
        if before and before[0] == marks and not again:
            return before[1]
        from hermes_acp.config.workspace_settings import read_workspace

        found = read_workspace(place, str(self._private.resolve()))
        self._found[place] = (marks, found)
        return found

    def items(self, place: str) -> tuple[TrustItem, ...]:
        """Return all items in a workspace that the user must trust before they are used."""
        found = self.settings_of(place)
        return (*(found.items if found else ()), *self._trust_items(place))

    def trust(self, place: str, items: Sequence[TrustItem]) -> None:
        """Trust these items from now on. Raises StorageError."""
        named = {(item.kind, item.name) for item in items}
        fresh = [TrustedItem(item.kind, item.name, item.digest) for item in items]
        self.trusted.change(
            os.path.realpath(place),
            lambda kept: (*(each for each in kept if (each.kind, each.name) not in named), *fresh),
        )

    def trust_for_process(self, place: str, items: Sequence[TrustItem] | None = None) -> None:
        """Trust these items, or everything in the workspace, for the lifetime of this process."""
        place = os.path.realpath(place)
        given = self.items(place) if items is None else items
        found = (TrustedItem(item.kind, item.name, item.digest) for item in given)
        self._trusted_by_process.setdefault(place, set()).update(found)

    def set_editor_trust(self, place: str, *, is_trusted: bool) -> None:
        """Record whether the editor trusts a workspace; if not, nothing is trusted, whatever the user decided."""
        (self._distrusted.discard if is_trusted else self._distrusted.add)(os.path.realpath(place))

    def revoke(self, place: str) -> None:
        """Forget what was trusted, but not what was rejected. Raises StorageError."""
        place = os.path.realpath(place)
        self._trusted_by_process.pop(place, None)
        self.trusted.change(place, lambda kept: (each for each in kept if each.kind == REJECTED))

    async def welcome(
        self, session: "RecordedSession", gate: Gate, found: "WorkspaceSettings | None"
    ) -> "WorkspaceSettings | None":
        """Report problems with a workspace's own files before a turn, and ask once about each item in them.

        `found` is what was read for this turn. Returns the settings that apply afterwards, trusted or not.
        """
        place = session.record.cwd
        if found is None:
            return None
        told = self._told.setdefault(session, set())
        for notice in found.notices:
            if notice not in told:
                told.add(notice)
                session.ledger.emit(Noticed("warning", notice))
        if await self.introduce(session, gate, place, found.items):
            # Files may have changed while the question was open; only their current content may be used.
            return await anyio.to_thread.run_sync(lambda: self.settings_of(place, again=True))
        return found

    async def introduce(
        self, session: "RecordedSession", gate: Gate, place: str, items: Sequence[TrustItem]
    ) -> bool:
        """Ask about untrusted items, each once per session; return whether the user was asked."""
        asked = self._asked.setdefault(session, set())
        fresh = [item for item in items if item not in asked and not self.is_trusted(place, item)]
        if fresh:
            asked.update(fresh)
            await self._ask_once(session.ledger, gate, place, fresh)
        return bool(fresh)

    async def _ask_once(
        self, ledger: "EventSink", gate: Gate, place: str, items: Sequence[TrustItem]
    ) -> None:
        if os.path.realpath(place) in self._distrusted:
            ledger.emit(Noticed("warning", _untrusted(items, place)))
            return
        ledger.emit(Noticed("info", await self.ask(ledger, gate, place, items)))

    async def ask(self, ledger: "EventSink", gate: Gate, place: str, items: Sequence[TrustItem]) -> str:
        """Ask the user about a workspace's contents in a separate question; return the outcome."""
        card = CallProposed(
            call_id=self._ids.fresh("trust"),
            name="trust_workspace",
            title=f"Trust what {place} contains: {_names(items)}?",
            kind="execute",
            raw_input={"folder": place} | {_named(item): _shown(item.about) for item in items},
            within=TRUST_CARD_PARENT,
        )
        ledger.emit(card)
        ledger.emit(PermissionAsked(card.call_id))
        await ledger.drained()
        answer: PermissionAnswer = "cancelled"
        by = ""
        try:
            question = structs.replace(card, why=WHY)
            said = await gate.ask(question, permission_scope=PermissionScope(workspace=TRUST_SCOPE))
            answer, by = (said.answer, said.by) if isinstance(said, PermissionResponse) else (said, "")
        finally:
            ledger.emit(PermissionAnswered(card.call_id, answer, by=by))
            text = self._take(answer, place, items)
            is_trusted = all(self.is_trusted(place, item) for item in items)
            if is_trusted:
                ledger.emit(CallStarted(card.call_id, is_repeatable=True))
            status: CallStatus = "completed" if is_trusted else "failed"
            outcome = TRUSTED if is_trusted else NOT_TRUSTED
            ledger.emit(CallEnded(card.call_id, card.name, status, outcome, within=TRUST_CARD_PARENT))
        return text

    def _take(self, answer: PermissionAnswer, place: str, items: Sequence[TrustItem]) -> str:
        names = f"{_names(items)} in {place}"
        if answer in ("allow_workspace", "allow_always"):
            try:
                self.trust(place, items)
            except StorageError as error:
                self.trust_for_process(place, items)
                return f"Trusted until this process ends: {names}. {error.sentence()}"
            return f"Trusted until it changes: {names}."
        if answer == "allow_once":
            self.trust_for_process(place, items)
            return f"Trusted until this process ends: {names}."
        return _untrusted(items, place)


class TrustCheck(Struct, frozen=True):
    """Checks whether a workspace's server, given by name, is still what the user trusted. Blocks."""

    workspace_trust: WorkspaceTrust
    place: str

    def __call__(self, name: str) -> bool:
        """Check the files that name the server and the files on which it depends again."""
        found = self.workspace_trust.settings_of(self.place, again=True)
        servers = found.servers if found else ()
        return any(
            each.name == name and self.workspace_trust.is_trusted(self.place, each.item) for each in servers
        )


NOTHING: Final = (0, 0, 0)


def carry_over(trust: WorkspaceTrust, source: str, place: str) -> None:
    """Trust the items in a copy of a folder that are trusted in the folder itself, while their content is the same.

    An empty `source` removes everything stored about the copy. Raises StorageError.
    """
    place = os.path.realpath(place)
    source = os.path.realpath(source) if source else ""
    _copy(trust.trusted, source, place)
    _copy(trust.answers, source, place)


def _copy(entries: "WorkspaceEntries[Any]", source: str, place: str) -> None:
    if entries.of(source) != entries.of(place):
        entries.change(place, lambda _: entries.of(source))


def _marks_of(place: str) -> Marks:
    """Return marks that show whether one of a workspace's own files has changed."""
    return tuple(_mark(os.path.join(place, file)) for file in FILES)


FILES: Final = (
    ".hermes/config.yaml",
    ".hermes/policy.yaml",
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".claude/settings.json",
    ".codex/hooks.json",
    ".codex/config.toml",
)
"""A test keeps these equal to the files that `config.workspace` reads, which is imported only if one of them exists."""


def _mark(path: str) -> tuple[int, int, int]:
    try:
        about = os.stat(path)
    except OSError:
        return NOTHING
    return (about.st_mtime_ns, about.st_size, about.st_ino)


def _names(items: Sequence[TrustItem]) -> str:
    return ", ".join(map(_named, items))


def _named(item: TrustItem) -> str:
    kind = KINDS.get(item.kind, item.kind)
    return kind if item.kind == "rules" else f"{kind} {_shown(item.name)}"


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def _untrusted(items: Sequence[TrustItem], place: str) -> str:
    return UNTRUSTED.format(names=_names(items), place=place)
