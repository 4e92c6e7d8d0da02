"""What our own methods carry; generated from schema/hermes.json.

Knows: the shape of every object of theirs. Does not know: who sends or serves them.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType


class DiagnosticsParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/diagnostics."""

    session_id: str
    path: str


class DiagnosticsDiagnostic(Struct, rename="camel", kw_only=True):
    """One of the diagnostics in `DiagnosticsResult`."""

    path: str
    line: int
    message: str
    column: int = 1
    severity: Literal["error", "warning", "information", "hint"] = "error"
    source: str | UnsetType | None = UNSET


class DiagnosticsResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/diagnostics."""

    diagnostics: list[DiagnosticsDiagnostic]


class CheckpointsListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/checkpoints/list."""

    session_id: str
    include_undos: bool = False


class CheckpointsListCheckpointFile(Struct, rename="camel", kw_only=True):
    """One of the files in `CheckpointsListCheckpoint`."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed"]
    old_path: str | UnsetType = UNSET


class CheckpointsListCheckpoint(Struct, rename="camel", kw_only=True):
    """One of the checkpoints in `CheckpointsListResult`."""

    id: str
    turn_id: str
    created_at: str
    title: str
    kind: Literal["turn", "undo"]
    files: list[CheckpointsListCheckpointFile]
    left_out: list[str]
    is_undone: bool
    is_torn: bool


class CheckpointsListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/checkpoints/list."""

    checkpoints: list[CheckpointsListCheckpoint]


class CheckpointsDiffParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/checkpoints/diff."""

    session_id: str
    id: str


class CheckpointsDiffFile(Struct, rename="camel", kw_only=True):
    """One of the files in `CheckpointsDiffResult`."""

    path: str
    old_text: str | UnsetType | None = UNSET
    new_text: str | UnsetType | None = UNSET
    binary: Literal[True] | UnsetType = UNSET


class CheckpointsDiffResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/checkpoints/diff."""

    files: list[CheckpointsDiffFile]


class CheckpointsRestoreParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/checkpoints/restore."""

    session_id: str
    id: str
    paths: list[str] | UnsetType | None = UNSET
    force: bool = False


class CheckpointsRestoreConflict(Struct, rename="camel", kw_only=True):
    """One of the conflicts in `CheckpointsRestoreResult`."""

    path: str
    why: str


class CheckpointsRestoreResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/checkpoints/restore."""

    restored: list[str]
    conflicts: list[CheckpointsRestoreConflict]
    checkpoint_id: str


class EditsListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/edits/list."""

    session_id: str
    include_judged: bool = False


class EditsListFileHunk(Struct, rename="camel", kw_only=True):
    """One of the hunks in `EditsListFile`."""

    old_start: int
    old_lines: list[str]
    new_start: int
    new_lines: list[str]


class EditsListFile(Struct, rename="camel", kw_only=True):
    """One of the files in `EditsListResult`."""

    path: str
    revision: str
    call_ids: list[str]
    old_text: str | None
    new_text: str | None
    hunks: list[EditsListFileHunk]


class EditsListWaitingFileHunk(Struct, rename="camel", kw_only=True):
    """One of the hunks in `EditsListWaitingFile`."""

    old_start: int
    old_lines: list[str]
    new_start: int
    new_lines: list[str]


class EditsListWaitingFile(Struct, rename="camel", kw_only=True):
    """One of the files in `EditsListWaiting`."""

    path: str
    old_text: str | None
    new_text: str | None
    hunks: list[EditsListWaitingFileHunk]


class EditsListWaiting(Struct, rename="camel", kw_only=True):
    """One of the waiting in `EditsListResult`."""

    call_id: str
    title: str
    files: list[EditsListWaitingFile]


class EditsListJudged(Struct, rename="camel", kw_only=True):
    """One of the judged in `EditsListResult`."""

    path: str
    verdict: Literal["accepted", "rejected"]
    hunks: int
    parts: list[str]


class EditsListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/edits/list."""

    files: list[EditsListFile]
    waiting: list[EditsListWaiting]
    judged: list[EditsListJudged]


class EditsJudgeParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/edits/judge."""

    session_id: str
    verdict: Literal["accepted", "rejected"]
    path: str | UnsetType = UNSET
    hunks: list[int] | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    is_done: bool = False


class EditsJudgeResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/edits/judge."""

    open: int


class EditsDraftParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/edits/draft."""

    session_id: str
    call_id: str
    path: str
    new_text: str
    is_whole: bool
    old_text: str | UnsetType = UNSET


class EditsJudgedParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/edits/judged."""

    session_id: str
    path: str
    open: int


class SessionsSearchParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/sessions/search."""

    query: str
    cwd: str | UnsetType | None = UNSET
    limit: int = 20
    by_meaning: bool = False
    since: str = ""
    until: str = ""


class SessionsSearchFound(Struct, rename="camel", kw_only=True):
    """One of the found in `SessionsSearchResult`."""

    session_id: str
    title: str
    cwd: str
    updated_at: str
    position: int
    speaker: Literal["user", "agent", "tool", "title"]
    text: str
    highlights: list[list[int]]
    at: str | UnsetType = UNSET


class SessionsSearchResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/sessions/search."""

    found: list[SessionsSearchFound]
    unread_sessions: int
    note: str | UnsetType = UNSET


class McpListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/mcp/list."""

    cwd: str
    session_id: str | UnsetType = UNSET


class McpListServer(Struct, rename="camel", kw_only=True):
    """One of the servers in `McpListResult`."""

    name: str
    scope: Literal["user", "editor", "workspace"]
    file: str
    target: str
    state: str
    is_connected: bool
    is_enabled: bool
    is_trusted: bool
    can_sign_in: bool
    needs_sign_in: bool
    tools: list[str]
    prompts: int


class McpListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/mcp/list."""

    servers: list[McpListServer]
    config_file: str
    notices: list[str]


class McpChangeParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/mcp/change."""

    name: str
    action: Literal["reconnect", "signIn", "signOut", "enable", "disable"]
    session_id: str | UnsetType = UNSET


class McpChangeResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/mcp/change."""

    text: str
    link: str | UnsetType = UNSET


class ContextListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/context/list."""

    cwd: str
    roots: list[str] | UnsetType = UNSET
    session_id: str | UnsetType = UNSET


class ContextListFileFinding(Struct, rename="camel", kw_only=True):
    """One of the findings in `ContextListFile`."""

    severity: str
    line: int
    rule: str
    why: str


class ContextListFile(Struct, rename="camel", kw_only=True):
    """One of the files in `ContextListResult`."""

    path: str
    file: str
    size_bytes: int
    tokens: int
    cut_bytes: int
    is_used: bool
    is_allowed: bool
    findings: list[ContextListFileFinding]
    digest: str | UnsetType = UNSET


class ContextListRefusal(Struct, rename="camel", kw_only=True):
    """One of the refusals in `ContextListResult`."""

    path: str
    file: str
    why: str


class ContextListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/context/list."""

    files: list[ContextListFile]
    refusals: list[ContextListRefusal]
    note: str | UnsetType = UNSET


class TrustListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/trust/list."""

    cwd: str


class TrustListItem(Struct, rename="camel", kw_only=True):
    """One of the items in `TrustListResult`."""

    kind: str
    name: str
    about: str
    is_trusted: bool
    digest: str | UnsetType = UNSET


class TrustListGrant(Struct, rename="camel", kw_only=True):
    """One of the grants in `TrustListResult`."""

    about: str
    is_allowed: bool


class TrustListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/trust/list."""

    items: list[TrustListItem]
    grants: list[TrustListGrant]
    is_distrusted: bool
    notices: list[str]


class TrustApproveItem(Struct, rename="camel", kw_only=True):
    """One of the items in `TrustApproveParams`."""

    kind: str
    name: str
    digest: str


class TrustApproveParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/trust/approve."""

    cwd: str
    items: list[TrustApproveItem]


class TrustApproveResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/trust/approve."""

    approved: int


class TrustRevokeParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/trust/revoke."""

    cwd: str
    what: Literal["items", "grants"]


class TrustRevokeResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/trust/revoke."""


class RunsListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/runs/list."""

    limit: int = 50


class RunsListRun(Struct, rename="camel", kw_only=True):
    """One of the runs in `RunsListResult`."""

    id: str
    session_id: str
    cwd: str
    state: Literal["queued", "running", "input_required", "done", "failed", "stopped", "parked"]
    prompt: str
    sentence: str
    origin: str
    created_at: str
    updated_at: str


class RunsListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/runs/list."""

    runs: list[RunsListRun]
    is_driven: bool


class RunsShowParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/runs/show."""

    id: str


class RunsShowQuestionDiff(Struct, rename="camel", kw_only=True):
    """One of the diffs in `RunsShowQuestion`."""

    path: str
    new_text: str
    old_text: str | UnsetType | None = UNSET


class RunsShowQuestion(Struct, rename="camel", kw_only=True):
    """One of the questions in `RunsShowResult`."""

    call_id: str
    title: str
    why: str
    is_for_text: bool
    choices: list[str]
    input: str
    diffs: list[RunsShowQuestionDiff]


class RunsShowResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/runs/show."""

    questions: list[RunsShowQuestion]


class RunsAnswerParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/runs/answer."""

    id: str
    call_id: str
    is_allowed: bool
    text: str = ""


class RunsAnswerResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/runs/answer."""

    state: Literal["queued", "running", "input_required", "done", "failed", "stopped", "parked"]


class RunsStopParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/runs/stop."""

    id: str


class RunsStopResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/runs/stop."""

    state: Literal["queued", "running", "input_required", "done", "failed", "stopped", "parked"]


class SetupStatusParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/setup/status."""


class SetupStatusProvider(Struct, rename="camel", kw_only=True):
    """One of the providers in `SetupStatusResult`."""

    name: str
    label: str
    base_url: str
    model: str
    key_variable: str
    has_key: bool
    needs_url: bool


class SetupStatusResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/setup/status."""

    is_ready: bool
    problem: str
    provider: str
    model: str
    base_url: str
    fallbacks: list[str]
    config_file: str
    secrets_file: str
    providers: list[SetupStatusProvider]


class SetupCheckParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/setup/check."""

    provider: str
    base_url: str = ""
    api_key: str = ""
    model: str = ""


class SetupCheckResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/setup/check."""

    models: list[str]
    model: str
    is_working: bool
    text: str


class SetupSaveParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/setup/save."""

    provider: str
    base_url: str = ""
    api_key: str = ""
    model: str = ""


class SetupSaveResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/setup/save."""

    config_file: str
    overridden_by: list[str]
