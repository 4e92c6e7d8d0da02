"""What of a session was shown already, so that after a restart of the agent only what is new is shown.

Knows: messages by their ids, calls by theirs. Does not know: why a session is told again.
"""

from msgspec import structs

from hermes_protocol import v1


class ShownUpdates:
    """What one session showed."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}
        self._ended: set[str] = set()
        self._recalled: dict[str, int] = {}
        self.recalled_prompts: list[str] = []

    def note(self, update: v1.SessionUpdate) -> None:
        """Take an update that is being shown."""
        match update:
            case v1.AgentMessageChunk() | v1.AgentThoughtChunk() if name := _name_of(update):
                self._said[name] = self._said.get(name, 0) + len(_text_of(update))
            case v1.ToolCall() | v1.SessionUpdateToolCallUpdate() if update.status in ("completed", "failed"):
                self._ended.add(update.tool_call_id)
            case _:
                pass

    def begin_replay(self) -> None:
        """Get ready for the session's past."""
        self._recalled.clear()
        self.recalled_prompts.clear()

    def fresh(self, update: v1.SessionUpdate) -> v1.SessionUpdate | None:
        """Return what of an update of the past was not shown yet; None where nothing is new."""
        match update:
            case v1.UserMessageChunk():
                if isinstance(update.content, v1.TextContent):
                    self.recalled_prompts.append(update.content.text)
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
        text, start = _text_of(update), self._recalled.get(name, 0)
        self._recalled[name] = start + len(text)
        new = text[max(0, self._said.get(name, 0) - start) :]
        return structs.replace(update, content=v1.TextContent(text=new)) if new else None


def _name_of(update: v1.AgentMessageChunk | v1.AgentThoughtChunk) -> str:
    """Name a message; words and thoughts of one step may share an id."""
    kind = "said" if isinstance(update, v1.AgentMessageChunk) else "thought"
    return f"{kind} {update.message_id}" if isinstance(update.message_id, str) else ""


def _text_of(update: v1.AgentMessageChunk | v1.AgentThoughtChunk) -> str:
    return update.content.text if isinstance(update.content, v1.TextContent) else ""
