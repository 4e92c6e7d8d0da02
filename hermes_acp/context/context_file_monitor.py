"""Find context file changes that the models in open sessions have not been shown yet."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from anyio.to_thread import run_sync

from hermes_acp.context.context_monitor import ContextQuestion, ContextReport
from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.messages import AssistantMessage, TextPart, UserMessage
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record

if TYPE_CHECKING:
    from hermes_acp.context.context_approvals import ContextApprovals
    from hermes_acp.context.context_consent import Consent
    from hermes_acp.context.context_search import SearchScope
    from hermes_acp.context.context_updates import ContextUpdates


class ContextFileMonitor:
    """Finds updates for each session; `clean` removes secrets, and `home` is the agent's own folder."""

    def __init__(
        self,
        clean: Callable[[str], str],
        home: Path,
        elsewhere: Callable[[Workspace], str],
        unread: Callable[[str], tuple[DeniedPath, ...]],
        approvals: "ContextApprovals",
        now: Callable[[], float],
    ) -> None:
        """Create the monitor.

        `now` returns seconds since the epoch; `elsewhere` names the backend of a workspace whose files are not on this
        machine. `unread` returns the paths that rules forbid reading in a folder; `approvals` stores users' answers.
        """
        self._unread = unread
        self._approvals = approvals
        self._now = now
        self._clean = clean
        self._elsewhere = elsewhere
        self._home = home
        self._sessions: WeakKeyDictionary[Record, ContextUpdates] = WeakKeyDictionary()
        self._joined: WeakKeyDictionary[Record, float] = WeakKeyDictionary()
        self._lengths: WeakKeyDictionary[Record, int] = WeakKeyDictionary()

    async def look(self, record: Record, workspace: Workspace, above: Record) -> ContextReport:
        """Report updates for a session with a frozen prompt; a remote session gets no updates about local files.

        Approvals and the initial files are those of the session `above`.
        """
        if not record.layers or self._elsewhere(workspace):
            return ContextReport()
        return await run_sync(self._look, record, above)

    def set_aside(self, record: Record, question: ContextQuestion) -> None:
        """Stop asking about this content in this process, because nobody could answer."""
        self._sessions[record].set_aside(question.digest)

    async def remember(self, record: Record, question: ContextQuestion, *, is_used: bool) -> None:
        """Store whether later sessions in the folder may use this content or must first ask about it.

        Raises StorageError.
        """
        keep = self._approvals.approve if is_used else self._approvals.reject
        await run_sync(keep, record.cwd, question.path, question.digest)

    def _look(self, record: Record, above: Record) -> ContextReport:
        from hermes_acp.context.context_search import SearchScope
        from hermes_acp.storage.allowed_texts import read_allowed

        place = SearchScope(record.cwd, record.roots[1:], str(self._home), self._unread(record.cwd))
        if record is above:
            self._note(record)
        consent = consent_for(above, self._approvals)
        is_settled = record is not above or not consent.may_withhold(_began_at(record))
        news = self._of(record, place, read_allowed(self._home), is_settled=is_settled)
        if len(record.messages) < self._lengths.get(record, 0):
            news.forget()  # the older part of the conversation was summarised
        self._lengths[record] = len(record.messages)
        found, withheld = news.look(place, lambda: _shown(record), tuple(record.seen), consent)
        self._approvals.note_imports(record.cwd, news.imports)
        questions = [
            ContextQuestion(each.path, each.file, each.digest, each.text, each.old_text) for each in withheld
        ]
        return ContextReport(found, questions)

    def _note(self, record: Record) -> None:
        """Record this session for later ones; a resumed session counts as starting now."""
        if record not in self._joined:
            is_resumed = any(isinstance(message, AssistantMessage) for message in record.messages)
            self._joined[record] = self._now() if is_resumed else _began_at(record)
        approved = [digest for digest, is_used in record.context_answers.items() if is_used]
        self._approvals.note_session(record.roots, self._joined[record], approved)

    def _of(
        self, record: Record, place: "SearchScope", allowed: frozenset[str], *, is_settled: bool
    ) -> "ContextUpdates":
        """Return the tracker of a session's updates; with `is_settled`, ask about nothing missing from its prompt."""
        if record not in self._sessions:
            from hermes_acp.context.context_updates import ContextUpdates

            news = self._sessions[record] = ContextUpdates(self._clean)
            if not any(isinstance(message, AssistantMessage) for message in record.messages):
                news.allow(allowed)
                news.begin(place, _shown(record))  # the prompt was just built from it
                if not is_settled:
                    news.forget()
        self._sessions[record].allow(allowed)
        return self._sessions[record]


def consent_for(above: Record, approvals: "ContextApprovals") -> "Consent":
    """Return what a session and its child agents may use without asking.

    A session starts with its first prompt: whatever exists at that time may be used, except content that was rejected
    or that changed while another session of this process was working in the same folder.
    """
    from hermes_acp.context.context_consent import Consent

    def is_trusted(path: str, digest: str) -> bool:
        return approvals.is_approved(above.cwd, path, digest)

    began_at = approvals.began_at(above.roots, _began_at(above) if above.layers else math.inf)
    return Consent(began_at, above.context_answers, is_trusted, approvals.rejected(above.cwd))


def _began_at(record: Record) -> float:
    return record.frozen_at or record.created_at


def _shown(record: Record) -> dict[str, str]:
    """Return the context files as the model was shown them, in its prompt and in later notes."""
    from hermes_acp.context.context_updates import shown_files

    notes = (
        part.text
        for message in record.messages
        if isinstance(message, UserMessage) and message.origin == "program"
        for part in message.parts
        if isinstance(part, TextPart)
    )
    return shown_files((*record.layers, *notes))
