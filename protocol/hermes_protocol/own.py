"""The wire types of our own methods; generated from schema/hermes.json."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType


class DiagnosticsParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/diagnostics."""

    session_id: str
    path: str


class DiagnosticsDiagnostic(Struct, rename="camel", kw_only=True):
    """An element of `diagnostics` in `DiagnosticsResult`."""

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
    """An element of `files` in `CheckpointsListCheckpoint`."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed"]
    old_path: str | UnsetType = UNSET


class CheckpointsListCheckpoint(Struct, rename="camel", kw_only=True):
    """An element of `checkpoints` in `CheckpointsListResult`."""

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
    """An element of `files` in `CheckpointsDiffResult`."""

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
    """An element of `conflicts` in `CheckpointsRestoreResult`."""

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
    """An element of `hunks` in `EditsListFile`."""

    old_start: int
    old_lines: list[str]
    new_start: int
    new_lines: list[str]


class EditsListFile(Struct, rename="camel", kw_only=True):
    """An element of `files` in `EditsListResult`."""

    path: str
    revision: str
    call_ids: list[str]
    old_text: str | None
    new_text: str | None
    hunks: list[EditsListFileHunk]


class EditsListWaitingFileHunk(Struct, rename="camel", kw_only=True):
    """An element of `hunks` in `EditsListWaitingFile`."""

    old_start: int
    old_lines: list[str]
    new_start: int
    new_lines: list[str]


class EditsListWaitingFile(Struct, rename="camel", kw_only=True):
    """An element of `files` in `EditsListWaiting`."""

    path: str
    old_text: str | None
    new_text: str | None
    hunks: list[EditsListWaitingFileHunk]


class EditsListWaiting(Struct, rename="camel", kw_only=True):
    """An element of `waiting` in `EditsListResult`."""

    call_id: str
    title: str
    files: list[EditsListWaitingFile]


class EditsListJudged(Struct, rename="camel", kw_only=True):
    """An element of `judged` in `EditsListResult`."""

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
    """An element of `found` in `SessionsSearchResult`."""

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
    """An element of `servers` in `McpListResult`."""

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
    """An element of `findings` in `ContextListFile`."""

    severity: str
    line: int
    rule: str
    why: str


class ContextListFile(Struct, rename="camel", kw_only=True):
    """An element of `files` in `ContextListResult`."""

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
    """An element of `refusals` in `ContextListResult`."""

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
    """An element of `items` in `TrustListResult`."""

    kind: str
    name: str
    about: str
    is_trusted: bool
    digest: str | UnsetType = UNSET


class TrustListGrant(Struct, rename="camel", kw_only=True):
    """An element of `grants` in `TrustListResult`."""

    about: str
    is_allowed: bool


class TrustListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/trust/list."""

    items: list[TrustListItem]
    grants: list[TrustListGrant]
    is_distrusted: bool
    notices: list[str]


class TrustApproveItem(Struct, rename="camel", kw_only=True):
    """An element of `items` in `TrustApproveParams`."""

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
    """An element of `runs` in `RunsListResult`."""

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
    """An element of `diffs` in `RunsShowQuestion`."""

    path: str
    new_text: str
    old_text: str | UnsetType | None = UNSET


class RunsShowQuestion(Struct, rename="camel", kw_only=True):
    """An element of `questions` in `RunsShowResult`."""

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
    """An element of `providers` in `SetupStatusResult`."""

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


class WaitingListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/waiting/list."""


class WaitingListWaiting(Struct, rename="camel", kw_only=True):
    """An element of `waiting` in `WaitingListResult`."""

    kind: Literal["run", "session"]
    id: str
    session_id: str
    cwd: str
    title: str
    questions: list[str]
    updated_at: str


class WaitingListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/waiting/list."""

    waiting: list[WaitingListWaiting]


class SchedulesListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/schedules/list."""


class SchedulesListSchedule(Struct, rename="camel", kw_only=True):
    """An element of `schedules` in `SchedulesListResult`."""

    id: str
    when: str
    cron: str
    at: str
    tz: str
    prompt: str
    cwd: str
    late: Literal["once", "skip", "within"]
    late_within_s: float
    overlap: Literal["skip", "queue", "cancel"]
    is_paused: bool
    next_at: str
    origin: str
    max_cost_usd: float | None


class SchedulesListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/schedules/list."""

    schedules: list[SchedulesListSchedule]
    is_driven: bool
    tz: str


class SchedulesHistoryParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/schedules/history."""

    id: str
    limit: int = 50


class SchedulesHistoryOccurrence(Struct, rename="camel", kw_only=True):
    """An element of `occurrences` in `SchedulesHistoryResult`."""

    due_at: str
    until: str
    count: int
    fate: Literal["started", "missed", "skipped", "paused"]
    run_id: str
    decided_at: str


class SchedulesHistoryResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/schedules/history."""

    occurrences: list[SchedulesHistoryOccurrence]


class SchedulesAddParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/schedules/add."""

    prompt: str
    cwd: str
    name: str = ""
    cron: str = ""
    at: str = ""
    tz: str = ""
    late: Literal["once", "skip", "within"] = "once"
    late_within_s: float = 0
    overlap: Literal["skip", "queue", "cancel"] = "skip"
    max_cost_usd: float | UnsetType = UNSET
    is_trial: bool = False


class SchedulesAddResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/schedules/add."""

    id: str
    when: str
    next_at: str


class SchedulesChangeParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/schedules/change."""

    id: str
    action: Literal["pause", "resume", "remove", "runNow"]


class SchedulesChangeResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/schedules/change."""

    run_id: str


class BoardListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/list."""

    board: str = "default"
    after: int = 0


class BoardListCard(Struct, rename="camel", kw_only=True):
    """An element of `cards` in `BoardListResult`."""

    id: str
    title: str
    state: Literal["inbox", "ready", "running", "input_required", "review", "merging", "done", "parked"]
    reason: str
    waits_for: list[str]
    is_queued: bool
    priority: int
    folder: str
    branch: str
    comments: int
    cost_usd: float
    session_id: str
    updated_at: str


class BoardListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/list."""

    boards: list[str]
    board: str
    cursor: int
    halted: str
    tokens: int
    cost_usd: float
    max_tokens: int | None
    max_cost_usd: float | None
    max_running: int | None
    cards: list[BoardListCard]
    removed: list[str]


class BoardShowParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/show."""

    id: str
    board: str = "default"


class BoardShowLink(Struct, rename="camel", kw_only=True):
    """An element of `links` in `BoardShowResult`."""

    kind: Literal["blocks", "parent", "found_in"]
    card_id: str
    title: str
    state: Literal["inbox", "ready", "running", "input_required", "review", "merging", "done", "parked"]
    is_incoming: bool


class BoardShowComment(Struct, rename="camel", kw_only=True):
    """An element of `comments` in `BoardShowResult`."""

    by: str
    at: str
    text: str


class BoardShowQuestionDiff(Struct, rename="camel", kw_only=True):
    """An element of `diffs` in `BoardShowQuestion`."""

    path: str
    new_text: str
    old_text: str | UnsetType | None = UNSET


class BoardShowQuestion(Struct, rename="camel", kw_only=True):
    """An element of `questions` in `BoardShowResult`."""

    call_id: str
    title: str
    why: str
    is_for_text: bool
    choices: list[str]
    input: str
    diffs: list[BoardShowQuestionDiff]


class BoardShowHistory(Struct, rename="camel", kw_only=True):
    """An element of `history` in `BoardShowResult`."""

    at: str
    by: str
    kind: str
    state: str
    text: str


class BoardShowResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/show."""

    text: str
    result: str
    words: str
    created_by: str
    created_at: str
    folder: str
    worktree: Literal["own", "same"]
    priority: int
    max_cost_usd: float | None
    checks: list[str]
    model: str
    place: str
    links: list[BoardShowLink]
    comments: list[BoardShowComment]
    run_id: str
    run_state: str
    base: str
    tokens: int
    questions: list[BoardShowQuestion]
    history: list[BoardShowHistory]


class BoardDiffParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/diff."""

    id: str
    board: str = "default"


class BoardDiffResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/diff."""

    patch: str
    is_cut: bool
    note: str


class BoardAddParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/add."""

    title: str
    board: str = "default"
    text: str = ""
    to: Literal["inbox", "ready"] = "inbox"
    folder: str | UnsetType = UNSET
    worktree: Literal["own", "same"] | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    max_cost_usd: float | UnsetType | None = UNSET
    checks: list[str] | UnsetType = UNSET
    model: str | UnsetType = UNSET
    place: str | UnsetType = UNSET
    blocked_by: list[str] | UnsetType = UNSET


class BoardAddResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/add."""

    cursor: int
    id: str


class BoardEditParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/edit."""

    id: str
    board: str = "default"
    title: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    folder: str | UnsetType = UNSET
    worktree: Literal["own", "same"] | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    max_cost_usd: float | UnsetType | None = UNSET
    checks: list[str] | UnsetType = UNSET
    model: str | UnsetType = UNSET
    place: str | UnsetType = UNSET


class BoardEditResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/edit."""

    cursor: int


class BoardMoveParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/move."""

    id: str
    to: Literal["inbox", "ready", "running", "input_required", "review", "merging", "done", "parked"]
    board: str = "default"
    reason: str = ""


class BoardMoveResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/move."""

    cursor: int


class BoardCommentParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/comment."""

    id: str
    text: str
    board: str = "default"


class BoardCommentResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/comment."""

    cursor: int


class BoardAnswerParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/answer."""

    id: str
    call_id: str
    is_allowed: bool
    board: str = "default"
    text: str = ""


class BoardAnswerResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/answer."""

    cursor: int


class BoardApproveParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/approve."""

    id: str
    board: str = "default"
    comment: str = ""


class BoardApproveResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/approve."""

    cursor: int


class BoardSendBackParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/send_back."""

    id: str
    words: str
    board: str = "default"


class BoardSendBackResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/send_back."""

    cursor: int


class BoardParkParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/park."""

    id: str
    board: str = "default"
    reason: str = ""


class BoardParkResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/park."""

    cursor: int


class BoardLinkParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/link."""

    id: str
    kind: Literal["blocks", "parent", "found_in"]
    card_id: str
    board: str = "default"
    is_removed: bool = False


class BoardLinkResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/link."""

    cursor: int


class BoardRemoveParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/remove."""

    id: str
    board: str = "default"
    is_restored: bool = False


class BoardRemoveResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/remove."""

    cursor: int


class BoardWatchParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/watch."""

    after: int
    board: str = "default"


class BoardWatchResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/board/watch."""

    cursor: int


class BoardChangedParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/board/changed."""

    board: str
    cursor: int


class FilesFindParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/files/find."""

    session_id: str
    query: str = ""
    limit: int = 30


class FilesFindFile(Struct, rename="camel", kw_only=True):
    """An element of `files` in `FilesFindResult`."""

    path: str
    name: str


class FilesFindResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/files/find."""

    files: list[FilesFindFile]


class UsageListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/usage/list."""

    days: int = 30
    by: Literal["day", "model", "workspace", "profile", "tool"] = "day"


class UsageListGroup(Struct, rename="camel", kw_only=True):
    """An element of `groups` in `UsageListResult`."""

    name: str
    requests: int
    failed: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    took_s: float


class UsageListSession(Struct, rename="camel", kw_only=True):
    """An element of `sessions` in `UsageListResult`."""

    session_id: str
    title: str
    cwd: str
    updated_at: str
    input_tokens: int
    output_tokens: int
    cost_usd: float


class UsageListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/usage/list."""

    groups: list[UsageListGroup]
    sessions: list[UsageListSession]
    first_day: str
    last_day: str
    is_whole: bool


class FilesReadParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/files/read."""

    session_id: str
    path: str


class FilesReadResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/files/read."""

    path: str
    name: str
    text: str
    size_bytes: int
    is_cut: bool


class FilesFetchParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/files/fetch."""

    session_id: str
    path: str


class FilesFetchResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/files/fetch."""

    path: str
    name: str
    mime_type: str
    data: str


class SpeechTranscribeParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/speech/transcribe."""

    mime_type: str
    data: str


class SpeechTranscribeResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/speech/transcribe."""

    text: str


class SettingsListParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/settings/list."""


class SettingsListSetting(Struct, rename="camel", kw_only=True):
    """An element of `settings` in `SettingsListResult`."""

    name: str
    title: str
    about: str
    kind: Literal["integer", "number", "choice"]
    value: str
    fallback: str
    choices: list[str]
    is_set: bool = False


class SettingsListResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/settings/list."""

    settings: list[SettingsListSetting]


class SettingsChangeParams(Struct, rename="camel", kw_only=True):
    """The parameters of _hermes/settings/change."""

    name: str
    value: str


class SettingsChangeResult(Struct, rename="camel", kw_only=True):
    """The result of _hermes/settings/change."""
