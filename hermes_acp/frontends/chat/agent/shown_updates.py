"""Track which updates of a session were shown, so that a replay after a restart shows only new ones.

Messages and calls are recognised by their IDs.
"""

from msgspec import structs

from hermes_protocol import v1


class ShownUpdates:
    """The updates of a session that were shown."""

    def __init__(self) -> None:
        self._shown: dict[str, int] = {}
        self._ended: set[str] = set()
        self._replayed: dict[str, int] = {}
        self.replayed_prompts: list[str] = []

    def note(self, update: v1.SessionUpdate) -> None:
        """Record an update that is being shown."""
        match update:
            case v1.AgentMessageChunk() | v1.AgentThoughtChunk() if name := _name_of(update):
                self._shown[name] = self._shown.get(name, 0) + len(_text_of(update))
            case v1.ToolCall() | v1.SessionUpdateToolCallUpdate() if update.status in ("completed", "failed"):
                self._ended.add(update.tool_call_id)
            case _:
                pass

    def begin_replay(self) -> None:
        """Prepare for a replay of the session."""
        self._replayed.clear()
        self.replayed_prompts.clear()

    def fresh(self, update: v1.SessionUpdate) -> v1.SessionUpdate | None:
        """Return the part of a replayed update that has not been shown yet, or None."""
        match update:
            case v1.UserMessageChunk():
                if isinstance(update.content, v1.TextContent):
                    self.replayed_prompts.append(update.content.text)
                return None
            case v1.AgentMessageChunk() | v1.AgentThoughtChunk() if name := _name_of(update):
                return self._fresh_words(update, name)
            case v1.ToolCall() | v1.SessionUpdateToolCallUpdate():
                return None if update.tool_call_id in self._ended else update
            case v1.Notice() | v1.CompactionUpdate() | v1.AgentThoughtChunk():
                return None
            case _:
                return update

    def _fresh_words(
        self, update: v1.AgentMessageChunk | v1.AgentThoughtChunk, name: str
    ) -> v1.SessionUpdate | None:
        text, start = _text_of(update), self._replayed.get(name, 0)
        self._replayed[name] = start + len(text)
        new = text[max(0, self._shown.get(name, 0) - start) :]
        return structs.replace(update, content=v1.TextContent(text=new)) if new else None


def _name_of(update: v1.AgentMessageChunk | v1.AgentThoughtChunk) -> str:
    """Return a key for a message; text and thoughts of one step may share an ID."""
    kind = "said" if isinstance(update, v1.AgentMessageChunk) else "thought"
    return f"{kind} {update.message_id}" if isinstance(update.message_id, str) else ""


def _text_of(update: v1.AgentMessageChunk | v1.AgentThoughtChunk) -> str:
    return update.content.text if isinstance(update.content, v1.TextContent) else ""
