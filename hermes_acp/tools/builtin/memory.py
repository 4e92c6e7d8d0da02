"""The `memory` tool: store notes for later sessions."""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.memory_ports import MemoryChange, MemoryNotes, MemoryState
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Remembers, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.memory.note_confidence import source_of
from hermes_acp.tools.store_failures import store_errors_as_refusals
from hermes_acp.tools.tool_schemas import schema_of

DOING = MappingProxyType({"add": "Note", "replace": "Replace a note", "remove": "Remove a note"})
SHOWN_IN = MappingProxyType(
    {"memory": "every workspace", "user": "about you, every workspace", "workspace": "this workspace"}
)
TITLE_CHARACTERS = 80
CONTRADICTION = (
    "There is an earlier note about the same subject: {notes} If both can hold, leave them. If they contradict each "
    "other, ask the user which one holds, unless they just told you, and remove the other."
)
DEFERRED = (
    "Not saved yet, because no user could be asked. "
    "The note waits for the user's approval and is in no prompt until then."
)


class Arguments(BaseModel):
    """The notes to change, and the change."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["add", "replace", "remove"]
    """What to do."""
    store: Annotated[
        Literal["memory", "user", "workspace"],
        Field(description="memory: applies everywhere; user: about the user; workspace: about this one"),
    ] = "workspace"
    """Which notes: for every folder (`memory`), about the user (`user`), or for this folder (`workspace`)."""
    text: Annotated[str, Field(description="The note: one fact, in a sentence or two")] = ""
    """The note: one fact, in a sentence or two."""
    old_text: Annotated[str, Field(description="Part of the one note to replace or remove")] = ""
    """Part of the note to replace or remove."""


class Memory:
    """Add, replace and remove notes for later sessions."""

    name = "memory"
    kind: ToolKind = "think"
    tool_metadata = ToolMetadata(capabilities=frozenset({"memory"}), is_cheap=True)
    arguments: type[BaseModel] = Arguments

    def __init__(
        self, memories: MemoryNotes | None = None, asks_to_remember: Callable[[], bool] = lambda: False
    ) -> None:
        self._memories = memories
        self._asks_to_remember = asks_to_remember

    def bind(self, memories: MemoryNotes, asks_to_remember: Callable[[], bool]) -> "Memory":
        """Return the tool bound to the notes; `asks_to_remember` returns whether a workspace requires approval."""
        return Memory(memories, asks_to_remember)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        text = (
            "Keep short notes for later sessions: lasting facts, preferences and lessons. No instructions, no "
            "progress of the current task."
        )
        return schema_of(self.name, text, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a change and show its effect on the notes. Raises BadRequest for an invalid change."""
        memories = self._memories
        assert memories, "an unbound tool is never in a toolbox"
        change = MemoryChange(arguments.store, arguments.action, arguments.text, arguments.old_text)
        with store_errors_as_refusals():
            preview = await memories.preview(workspace.cwd, change)

        is_shared, title = change.store != "workspace", _title(change)
        is_asked = is_shared or self._asks_to_remember()

        async def note(progress: Progress, *, is_approved: bool = False) -> Result:
            with store_errors_as_refusals():
                change = _with_source(preview.change, progress, is_approved=is_approved)
                state = await memories.change(workspace.cwd, change, progress.event_context)
            diffs = (state.diff,) if state.diff else ()
            return Result(_told(state), diffs=diffs, advice=_doubt(preview.related))

        async def note_approved(progress: Progress) -> Result:
            return await note(progress, is_approved=True)

        async def defer(progress: Progress) -> Result:
            with store_errors_as_refusals():
                change = _with_source(preview.change, progress)
                await memories.defer(workspace.cwd, change, progress.event_context)
            return Result(DEFERRED, advice="Do not repeat it.")

        replaced, diffs = preview.change.meant, (preview.diff,)
        effects = (Remembers(preview.diff.path, is_asked, is_shared, note=change.text, replaced=replaced),)
        return Proposal(
            title,
            self.kind,
            note,
            effects,
            diffs=diffs,
            unasked=Proposal(title, self.kind, defer),
            approved=Proposal(title, self.kind, note_approved, effects, diffs=diffs),
        )


def _with_source(change: MemoryChange, progress: Progress, *, is_approved: bool = False) -> MemoryChange:
    """Return a change with the source of its text. `is_approved` says that the user was asked about it."""
    if not change.text:
        return change
    source = source_of(change.text, progress.prompts, change.meant)
    return structs.replace(change, source="approved" if is_approved and source == "found" else source)


def _title(change: MemoryChange) -> str:
    said = " ".join((change.text or change.old_text).split())
    short = said if len(said) <= TITLE_CHARACTERS else said[: TITLE_CHARACTERS - 1] + "…"
    return f"{DOING[change.action]} ({SHOWN_IN[change.store]}): {short}"


def _doubt(related: Sequence[str]) -> str:
    """Return advice for the case that the new note contradicts others; empty if no other note has the same subject."""
    if not related:
        return ""
    return CONTRADICTION.format(notes=" ".join(f"“{note}”" for note in related))


def _told(state: MemoryState) -> str:
    lines = "\n".join(f"- {entry}" for entry in state.entries) or "(no notes)"
    return f"{state.store}: {state.characters:,} of {state.max_characters:,} characters\n{lines}"


TOOL = Memory()
