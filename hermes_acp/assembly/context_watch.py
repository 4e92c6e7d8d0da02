"""Who looks after the context files of every open session.

Knows: what a session's model was shown, by its record. Does not know: how a change is found or told.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from anyio.to_thread import run_sync

from hermes_acp.core.closures import Closure
from hermes_acp.core.messages import AssistantMessage, TextPart, UserMessage
from hermes_acp.core.ports import Workspace
from hermes_acp.core.record import Record

if TYPE_CHECKING:
    from hermes_acp.knowledge.context_news import ContextNews, News
    from hermes_acp.knowledge.context_search import Place


class ContextWatch:
    """Finds the news for one session after another; `clean` takes out secrets, `home` is the user's own folder."""

    def __init__(
        self,
        clean: Callable[[str], str],
        home: Path,
        elsewhere: Callable[[Workspace], str],
        unread: Callable[[str], tuple[Closure, ...]],
    ) -> None:
        """Know of no session yet; `elsewhere` names the backend of a workspace whose files are not on this machine.

        `unread` gives what rules keep from being read in a place.
        """
        self._unread = unread
        self._clean = clean
        self._elsewhere = elsewhere
        self._home = home
        self._sessions: WeakKeyDictionary[Record, ContextNews] = WeakKeyDictionary()
        self._lengths: WeakKeyDictionary[Record, int] = WeakKeyDictionary()

    async def news(self, record: Record, workspace: Workspace) -> "Sequence[News]":
        """Give what is new for a session whose prompt is frozen; files of this machine are no news of another's."""
        if not record.layers or self._elsewhere(workspace):
            return ()
        return await run_sync(self._look, record)

    def _look(self, record: Record) -> "Sequence[News]":
        from hermes_acp.knowledge.allowances import read_allowed
        from hermes_acp.knowledge.context_search import Place

        place = Place(record.cwd, record.roots[1:], str(self._home), self._unread(record.cwd))
        news = self._of(record, place, read_allowed(self._home))
        if len(record.messages) < self._lengths.get(record, 0):
            news.forget()  # the older part of the conversation was summed up
        self._lengths[record] = len(record.messages)
        return news.look(place, lambda: _shown(record), tuple(record.seen))

    def _of(self, record: Record, place: "Place", allowed: frozenset[str]) -> "ContextNews":
        if record not in self._sessions:
            from hermes_acp.knowledge.context_news import ContextNews

            news = self._sessions[record] = ContextNews(self._clean)
            if not any(isinstance(message, AssistantMessage) for message in record.messages):
                news.allow(allowed)
                news.begin(place, _shown(record))  # the prompt was made of it a moment ago
        self._sessions[record].allow(allowed)
        return self._sessions[record]


def _shown(record: Record) -> dict[str, str]:
    """Give the context files as a model was shown them: in its prompt, and in the notes since."""
    from hermes_acp.knowledge.context_news import shown_files

    notes = (
        part.text
        for message in record.messages
        if isinstance(message, UserMessage) and message.origin == "program"
        for part in message.parts
        if isinstance(part, TextPart)
    )
    return shown_files((*record.layers, *notes))
