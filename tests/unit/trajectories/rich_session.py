"""A recorded session with an event of every recorded type, and one child agent."""

from pathlib import Path
from typing import Final, get_args

from msgspec import structs

from hermes_acp.core import events as all_events
from hermes_acp.core.event_types import (
    CallEffect,
    Diff,
    EditsJudged,
    FileVersion,
    Grant,
    GrantsRevoked,
    HunkSpan,
    Location,
    Options,
    PlanChanged,
    PlanEntry,
    SessionImported,
    ToolsOffered,
)
from hermes_acp.core.events import (
    ArchiveChanged,
    CallEnded,
    CallProgressed,
    CallProposed,
    CallStarted,
    ChildChanged,
    CommandAnswered,
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryCompacted,
    InstructionsGiven,
    ModeChanged,
    NoteAdded,
    Noticed,
    OptionsChanged,
    PermissionAnswered,
    PermissionAsked,
    PromptFrozen,
    RootsChanged,
    SessionOpened,
    StepEnded,
    StepFailed,
    SummarySaid,
    TextSaid,
    ThoughtSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserSaid,
)
from hermes_acp.core.flow_labels import Source, SourcesRead
from hermes_acp.core.messages import (
    ImagePart,
    LinkPart,
    ResourcePart,
    TextPart,
    Thought,
    ToolCall,
    ToolSchema,
    Usage,
)
from hermes_acp.storage.record_writer import write_record
from hermes_acp.storage.tool_schema_store import OfferedTools, ToolSchemaStore, digest_of

ID: Final = "ses_00000000000000aa"
CHILD: Final = f"{ID}.child_00000000000000bb"
OWNER: Final = "/home/carolina/shop"
NOT_RECORDED: Final = {"commands_changed", "edit_drafted", "child_reported"}
TOOLS: Final = OfferedTools(
    (
        ToolSchema(
            "read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
        ),
    ),
    (ToolSchema("mcp__web__look", "Look.", {"type": "object"}),),
)


def recorded_types() -> set[str]:
    """Return the names of all types of events that a record can contain."""
    kinds = {str(kind.__struct_config__.tag) for kind in get_args(all_events.Event)}
    return kinds - NOT_RECORDED


def opening(session_id: str = ID, parent: str = "") -> list[Event]:
    return [
        SessionOpened(session_id, OWNER, (OWNER,), 1_700_000_000.5, parent),
        PromptFrozen(("You are an agent.", "The folder is /home/carolina/shop.\n\nIt has\n\n3 files."), 5.0),
        ToolsOffered(digest_of(TOOLS), "0.1.0"),
    ]


def conversation() -> list[Event]:
    """Return the events of the whole session, except children."""
    diff = Diff(f"{OWNER}/a.py", "one\ntwo\nthree\nfour\n", "ONE\ntwo\nthree\nFOUR\n")
    calls = (
        ToolCall("call_1", "read_file", '{"path": "a.py"}', "sig", "toolu_1"),
        ToolCall("call_2", "edit_file", '{"path":"a.py","old":"one","new":"O\\u004eE"}'),
        ToolCall("call_3", "mcp__web__look", "{not json", via="call_tool"),
        ToolCall("call_4", "delegate", '{"task":"look"}'),
    )
    return [
        *opening(),
        InstructionsGiven("Be brief."),
        OptionsChanged(Options(model="m", effort="high")),
        ModeChanged("accept_edits"),
        TurnStarted("turn_1"),
        UserSaid("msg_u", (TextPart("Fix it, Carolina says."), ImagePart("image/png", "AAAA"))),
        TitleChanged("Fix it"),
        ThoughtSaid("msg_1", "Let me "),
        ThoughtSaid("msg_1", "think."),
        TextSaid("msg_1", "I will "),
        Noticed("info", "No output yet."),
        TextSaid("msg_1", "look."),
        StepEnded("msg_1", calls, (Thought("Let me think.", "c2ln"),), Usage(100, 20, 50), "p", "model-x"),
        CallProposed(
            "call_1", "read_file", "Read a.py", "read", {"path": "a.py"}, (Location(f"{OWNER}/a.py", 3),)
        ),
        CallStarted("call_1", is_repeatable=True),
        CallProgressed("call_1", "some"),
        CallEnded("call_1", "read_file", "completed", "one\ntwo", seen=(FileVersion(f"{OWNER}/a.py", "ab"),)),
        CallProposed("call_2", "edit_file", "Edit a.py", "edit", {"other": 1}, diffs=(diff,)),
        CallEnded("call_2", "edit_file", "completed", "Edited.", diffs=(diff,), advice="Run the tests."),
        CallProposed(
            "call_3", "mcp__web__look", "Look", "other", effects=(CallEffect("reaches", ("x.org",)),)
        ),
        SourcesRead((Source("untrusted", "x.org"),), "call_3"),
        PermissionAsked("call_3", "reaches x.org"),
        PermissionAnswered(
            "call_3", "allow_always", (Grant("reach", "x.org", allowed=True),), "fine", by="Zed"
        ),
        GrantsRevoked((Grant("reach", "x.org", allowed=True),)),
        CallEnded(
            "call_3",
            "mcp__web__look",
            "failed",
            "Somebody wrote this.",
            parts=(ImagePart("image/bmp", "BBBB"),),
        ),
        CallProposed("call_in", "read_file", "Read b", "read", {"path": "b"}, within="call_4"),
        CallEnded("call_in", "read_file", "completed", "b!", within="call_4"),
        ChildChanged("call_4", CHILD, "look"),
        ChildChanged("call_4", CHILD, "look", "done", "ok", 0.01),
        CallEnded("call_4", "delegate", "completed", "The child says hi."),
        UsageChanged(120, 1000, 0.02),
        PlanChanged((PlanEntry("Fix"),)),
        StepFailed("msg_2", "The model is busy.", retried=True, provider="p"),
        TextSaid("msg_3", "Done."),
        StepEnded("msg_3", usage=Usage(130, 5), provider="p", model="model-x"),
        TurnEnded("turn_1", "done", steps=2, usage=Usage(230, 25), cost_usd=0.02),
        *later_events(),
    ]


def later_events() -> list[Event]:
    """Return the events after the first turn."""
    return [
        CommandAnswered("msg_c", "/status", "Fine."),
        EditsJudged(f"{OWNER}/a.py", "rejected", (HunkSpan(0, 1, 0, 1),), ("-one",)),
        RootsChanged(("/home/carolina/other",)),
        CompactionStarted("cmp_1", "asked"),
        SummarySaid("cmp_1", "It was"),
        HistoryCompacted("cmp_1", "It was fixed.", 3, usage=Usage(50, 5), provider="p", model="model-x"),
        CompactionFailed("cmp_2", "failed", "no"),
        NoteAdded("[Since then the user undid it.]", undone=("turn_0",)),
        TurnStarted("turn_2"),
        UserSaid("msg_u2", (ResourcePart("file:///home/carolina/x", "text"), LinkPart("https://x.org", "x"))),
        TextSaid("msg_4", "Sure"),
        TurnEnded("turn_2", "cancelled"),
        ArchiveChanged(is_archived=True),
        SessionImported("ab", OWNER),
    ]


def child_conversation() -> list[Event]:
    return [
        *opening(CHILD, ID),
        TurnStarted("turn_c"),
        UserSaid("msg_cu", (TextPart("Look."),)),
        TextSaid("msg_ca", "Hi."),
        StepEnded("msg_ca", usage=Usage(10, 2), provider="p", model="model-x"),
        TurnEnded("turn_c", "done"),
    ]


def write_rich_session(home: Path, session_id: str = ID) -> Path:
    """Write the session with its child, and the schemas of its tools."""
    at = iter(range(1_700_000_000_500, 1_800_000_000_000, 1_237))
    ToolSchemaStore(home).keep(TOOLS)

    def named(event: Event) -> Event:
        fields = {name: getattr(event, name) for name in type(event).__struct_fields__}
        named = {
            name: value.replace(ID, session_id) for name, value in fields.items() if isinstance(value, str)
        }
        return structs.replace(event, **named)

    path = home / "sessions" / f"{session_id}.jsonl"
    child = path.with_suffix("") / f"{CHILD.replace(ID, session_id)}.jsonl"
    write_record(child, [(named(event), next(at)) for event in child_conversation()])
    # The first events have no times, as in records of earlier versions.
    events = [(named(event), None if number < 2 else next(at)) for number, event in enumerate(conversation())]
    write_record(path, events)
    return path
