/** The wire types of our own methods; generated from protocol/schema/hermes.json by protocol/generate.py. */

/** The parameters of _hermes/diagnostics. */
export interface DiagnosticsParams {
  readonly sessionId: string;
  /** Absolute. */
  readonly path: string;
}

/** An element of `diagnostics` in `DiagnosticsResult`. */
export interface DiagnosticsDiagnostic {
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly message: string;
  readonly column?: number;
  readonly severity?: "error" | "warning" | "information" | "hint";
  /** Where it comes from, such as the name of a linter. */
  readonly source?: string | null;
}

/** The result of _hermes/diagnostics. */
export interface DiagnosticsResult {
  readonly diagnostics: readonly DiagnosticsDiagnostic[];
}

/** The parameters of _hermes/checkpoints/list. */
export interface CheckpointsListParams {
  readonly sessionId: string;
  /** List undos too. They can be undone themselves. */
  readonly includeUndos?: boolean;
}

/** An element of `files` in `CheckpointsListCheckpoint`. */
export interface CheckpointsListCheckpointFile {
  /** Absolute. */
  readonly path: string;
  readonly change: "added" | "modified" | "deleted" | "renamed";
  /** Where a renamed file was. */
  readonly oldPath?: string;
}

/** An element of `checkpoints` in `CheckpointsListResult`. */
export interface CheckpointsListCheckpoint {
  readonly id: string;
  /** Empty for an undo. */
  readonly turnId: string;
  readonly createdAt: string;
  /** The first line of the prompt. */
  readonly title: string;
  readonly kind: "turn" | "undo";
  readonly files: readonly CheckpointsListCheckpointFile[];
  /** Files that are never restored: too large, or not readable. */
  readonly leftOut: readonly string[];
  /** It was undone, and the undo was not undone. */
  readonly isUndone: boolean;
  /** The agent's process ended during the turn. `files` can include changes of others, so only `force` restores it. */
  readonly isTorn: boolean;
}

/** The result of _hermes/checkpoints/list. */
export interface CheckpointsListResult {
  readonly checkpoints: readonly CheckpointsListCheckpoint[];
}

/** The parameters of _hermes/checkpoints/diff. */
export interface CheckpointsDiffParams {
  readonly sessionId: string;
  /** The ID of a checkpoint, from the list. */
  readonly id: string;
}

/** An element of `files` in `CheckpointsDiffResult`. */
export interface CheckpointsDiffFile {
  /** Absolute. */
  readonly path: string;
  /** Null if the file did not exist. */
  readonly oldText?: string | null;
  /** Null if the file was deleted. */
  readonly newText?: string | null;
  /** Present instead of both texts if the file is binary. */
  readonly binary?: true;
}

/** The result of _hermes/checkpoints/diff. */
export interface CheckpointsDiffResult {
  readonly files: readonly CheckpointsDiffFile[];
}

/** The parameters of _hermes/checkpoints/restore. */
export interface CheckpointsRestoreParams {
  readonly sessionId: string;
  /** The ID of a checkpoint, from the list. */
  readonly id: string;
  /** Only these files, with the paths of the list. */
  readonly paths?: readonly string[] | null;
  /** Also overwrite later changes of others. */
  readonly force?: boolean;
}

/** An element of `conflicts` in `CheckpointsRestoreResult`. */
export interface CheckpointsRestoreConflict {
  readonly path: string;
  readonly why: string;
}

/** The result of _hermes/checkpoints/restore. */
export interface CheckpointsRestoreResult {
  /** The restored files, including those that were deleted. */
  readonly restored: readonly string[];
  /** Files that were not touched. */
  readonly conflicts: readonly CheckpointsRestoreConflict[];
  /** Restore this checkpoint to revert the undo. Empty if nothing was done. */
  readonly checkpointId: string;
}

/** The parameters of _hermes/edits/list. */
export interface EditsListParams {
  readonly sessionId: string;
  /** Also list what was reviewed. */
  readonly includeJudged?: boolean;
}

/** An element of `hunks` in `EditsListFile`. */
export interface EditsListFileHunk {
  /** The first removed line, from 0. */
  readonly oldStart: number;
  /** Without line feeds. Text after the last line feed of a file is a line too. */
  readonly oldLines: readonly string[];
  /** The first added line, from 0. */
  readonly newStart: number;
  readonly newLines: readonly string[];
}

/** An element of `files` in `EditsListResult`. */
export interface EditsListFile {
  /** Absolute. */
  readonly path: string;
  /** Identifies this state. It changes when the hunks change. */
  readonly revision: string;
  /** The calls that made the open hunks. */
  readonly callIds: readonly string[];
  /** What the user has accepted so far. Null if there was no file. For a large file, the texts can be a part. */
  readonly oldText: string | null;
  /** The current text. Null if the file was deleted. */
  readonly newText: string | null;
  /** The open hunks, in order. A verdict names them by their index, from 0. */
  readonly hunks: readonly EditsListFileHunk[];
}

/** An element of `hunks` in `EditsListWaitingFile`. */
export interface EditsListWaitingFileHunk {
  /** The first removed line, from 0. */
  readonly oldStart: number;
  /** Without line feeds. Text after the last line feed of a file is a line too. */
  readonly oldLines: readonly string[];
  /** The first added line, from 0. */
  readonly newStart: number;
  readonly newLines: readonly string[];
}

/** An element of `files` in `EditsListWaiting`. */
export interface EditsListWaitingFile {
  readonly path: string;
  /** Null for a new file. */
  readonly oldText: string | null;
  /** Null if the file would be deleted. */
  readonly newText: string | null;
  readonly hunks: readonly EditsListWaitingFileHunk[];
}

/** An element of `waiting` in `EditsListResult`. */
export interface EditsListWaiting {
  readonly callId: string;
  readonly title: string;
  readonly files: readonly EditsListWaitingFile[];
}

/** An element of `judged` in `EditsListResult`. */
export interface EditsListJudged {
  readonly path: string;
  readonly verdict: "accepted" | "rejected";
  /** How many. */
  readonly hunks: number;
  /** What was rejected, as the model sees it. */
  readonly parts: readonly string[];
}

/** The result of _hermes/edits/list. */
export interface EditsListResult {
  readonly files: readonly EditsListFile[];
  /** Calls that wait for session/request_permission. Its answer decides about their hunks, with `hermes.edits`. */
  readonly waiting: readonly EditsListWaiting[];
  /** Oldest first. Empty without `includeJudged`. */
  readonly judged: readonly EditsListJudged[];
}

/** The parameters of _hermes/edits/judge. */
export interface EditsJudgeParams {
  readonly sessionId: string;
  readonly verdict: "accepted" | "rejected";
  /** Only this file. */
  readonly path?: string;
  /** Only these hunks of the file, by their indexes in the list. */
  readonly hunks?: readonly number[];
  /** The revision of the list that the indexes are from. The call fails if the file was edited since. */
  readonly revision?: string;
  /** The client itself reverts rejected hunks, for example in an open document. */
  readonly isDone?: boolean;
}

/** The result of _hermes/edits/judge. */
export interface EditsJudgeResult {
  /** Open hunks of the session after the call. */
  readonly open: number;
}

/** The parameters of _hermes/edits/draft. */
export interface EditsDraftParams {
  readonly sessionId: string;
  /** The ID of the tool call that follows if the model completes its answer. */
  readonly callId: string;
  /** As the model wrote it: absolute, or relative to the session's working directory. */
  readonly path: string;
  /** The new text, as far as it is written. */
  readonly newText: string;
  /** `newText` is complete. */
  readonly isWhole: boolean;
  /** The whole passage that is replaced. Missing if the whole file is written. */
  readonly oldText?: string;
}

/** The parameters of _hermes/edits/judged. */
export interface EditsJudgedParams {
  readonly sessionId: string;
  /** Absolute. */
  readonly path: string;
  /** Open hunks of the file. */
  readonly open: number;
}

/** The parameters of _hermes/sessions/search. */
export interface SessionsSearchParams {
  readonly query: string;
  /** Only sessions of this working directory. */
  readonly cwd?: string | null;
  /** Maximum number of results. */
  readonly limit?: number;
  /** Also find texts with a similar meaning, if recall.embeddings is set. */
  readonly byMeaning?: boolean;
  /** Only what was said from this date on, such as 2026-03-04, 2d or last Tuesday. With a date, the query can be empty: what the user asked for then, newest first. */
  readonly since?: string;
  /** Only what was said up to the end of this date, in the same forms. */
  readonly until?: string;
}

/** An element of `found` in `SessionsSearchResult`. */
export interface SessionsSearchFound {
  readonly sessionId: string;
  readonly title: string;
  readonly cwd: string;
  readonly updatedAt: string;
  /** The index of the message in its session. */
  readonly position: number;
  readonly speaker: "user" | "agent" | "tool" | "title";
  /** The part of the message around the words. */
  readonly text: string;
  /** Starts and ends of the matched words in the text, in Unicode characters. */
  readonly highlights: readonly (readonly number[])[];
  /** When it was said. Absent if that was not recorded. */
  readonly at?: string;
}

/** The result of _hermes/sessions/search. */
export interface SessionsSearchResult {
  readonly found: readonly SessionsSearchFound[];
  /** Sessions whose text was not indexed in time for this search. */
  readonly unreadSessions: number;
  /** What the search left out and why, for the user. Absent if nothing was left out. */
  readonly note?: string;
}

/** The parameters of _hermes/mcp/list. */
export interface McpListParams {
  /** The folder. Absolute. */
  readonly cwd: string;
  /** An open session, for the servers of its editor and its folder. */
  readonly sessionId?: string;
}

/** An element of `servers` in `McpListResult`. */
export interface McpListServer {
  readonly name: string;
  /** Who configured it. */
  readonly scope: "user" | "editor" | "workspace";
  /** Where it is configured. Absolute. Empty for the editor's own. */
  readonly file: string;
  /** Its command line or address, without variables and headers. */
  readonly target: string;
  /** For people. */
  readonly state: string;
  readonly isConnected: boolean;
  readonly isEnabled: boolean;
  /** The user trusts it with its current content. Always true for the user's own and the editor's. */
  readonly isTrusted: boolean;
  readonly canSignIn: boolean;
  readonly needsSignIn: boolean;
  /** The names, as the model sees them. */
  readonly tools: readonly string[];
  /** How many. */
  readonly prompts: number;
}

/** The result of _hermes/mcp/list. */
export interface McpListResult {
  readonly servers: readonly McpListServer[];
  /** Where the user's own servers are configured. It need not exist. */
  readonly configFile: string;
  /** What is wrong with the files of the folder, for people. */
  readonly notices: readonly string[];
}

/** The parameters of _hermes/mcp/change. */
export interface McpChangeParams {
  readonly name: string;
  readonly action: "reconnect" | "signIn" | "signOut" | "enable" | "disable";
  /** An open session, for the servers of its editor and its folder. */
  readonly sessionId?: string;
}

/** The result of _hermes/mcp/change. */
export interface McpChangeResult {
  /** What happened, for people. */
  readonly text: string;
  /** For signIn: the page to show. The list says when the user has signed in. */
  readonly link?: string;
}

/** The parameters of _hermes/context/list. */
export interface ContextListParams {
  /** The folder. Absolute. */
  readonly cwd: string;
  /** Further folders. Absolute. */
  readonly roots?: readonly string[];
  /** An open session: also files below its folder that it has come across, and what its user approved. */
  readonly sessionId?: string;
}

/** An element of `findings` in `ContextListFile`. */
export interface ContextListFileFinding {
  readonly severity: string;
  /** From 1. */
  readonly line: number;
  readonly rule: string;
  /** For people. */
  readonly why: string;
}

/** An element of `files` in `ContextListResult`. */
export interface ContextListFile {
  /** As shown to people. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly sizeBytes: number;
  /** An estimate of what the model reads. */
  readonly tokens: number;
  /** Left out of the middle for lack of space. */
  readonly cutBytes: number;
  /** False if it changed during the session and was not approved. */
  readonly isUsed: boolean;
  /** The user allows it as it is, so nothing was cut out. */
  readonly isAllowed: boolean;
  /** What the scanner found. Passages that it blocks are not read. */
  readonly findings: readonly ContextListFileFinding[];
  /** Of its current content, for `_hermes/trust/approve`. */
  readonly digest?: string;
}

/** An element of `refusals` in `ContextListResult`. */
export interface ContextListRefusal {
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  /** For people. */
  readonly why: string;
}

/** The result of _hermes/context/list. */
export interface ContextListResult {
  /** The nearest last. A later one wins. */
  readonly files: readonly ContextListFile[];
  /** Files that are not read. */
  readonly refusals: readonly ContextListRefusal[];
  /** Why nothing is read here, for people. Absent otherwise. */
  readonly note?: string;
}

/** The parameters of _hermes/trust/list. */
export interface TrustListParams {
  /** The folder. Absolute. */
  readonly cwd: string;
}

/** An element of `items` in `TrustListResult`. */
export interface TrustListItem {
  readonly kind: string;
  readonly name: string;
  /** What would run or be allowed. */
  readonly about: string;
  /** With exactly its current content. */
  readonly isTrusted: boolean;
  /** Of its current content, for `_hermes/trust/approve`. */
  readonly digest?: string;
}

/** An element of `grants` in `TrustListResult`. */
export interface TrustListGrant {
  /** What the answer covers, for people. */
  readonly about: string;
  /** False: always rejected. */
  readonly isAllowed: boolean;
}

/** The result of _hermes/trust/list. */
export interface TrustListResult {
  readonly items: readonly TrustListItem[];
  readonly grants: readonly TrustListGrant[];
  /** The editor does not trust the folder, so nothing in it is used. */
  readonly isDistrusted: boolean;
  /** What is wrong with the files of the folder, for people. */
  readonly notices: readonly string[];
}

/** An element of `items` in `TrustApproveParams`. */
export interface TrustApproveItem {
  /** As listed, or `context_file`. */
  readonly kind: string;
  /** As listed; of a context file, its path. */
  readonly name: string;
  readonly digest: string;
}

/** The parameters of _hermes/trust/approve. */
export interface TrustApproveParams {
  /** The folder. Absolute. */
  readonly cwd: string;
  readonly items: readonly TrustApproveItem[];
}

/** The result of _hermes/trust/approve. */
export interface TrustApproveResult {
  /** How many of them are trusted now. */
  readonly approved: number;
}

/** The parameters of _hermes/trust/revoke. */
export interface TrustRevokeParams {
  /** The folder. Absolute. */
  readonly cwd: string;
  readonly what: "items" | "grants";
}

/** The result of _hermes/trust/revoke. */
export interface TrustRevokeResult {}

/** The parameters of _hermes/runs/list. */
export interface RunsListParams {
  /** Maximum number, up to 200. */
  readonly limit?: number;
}

/** An element of `runs` in `RunsListResult`. */
export interface RunsListRun {
  readonly id: string;
  /** The session that the run works in. It can be loaded once the run has begun. */
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  readonly state: "queued" | "running" | "input_required" | "done" | "failed" | "stopped" | "parked";
  /** What it is to do; empty if that is no longer stored. */
  readonly prompt: string;
  /** Its state in words, for people. Empty if there is nothing to say. */
  readonly sentence: string;
  /** What started it, such as `schedule:ID`; empty for a person. */
  readonly origin: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** The result of _hermes/runs/list. */
export interface RunsListResult {
  readonly runs: readonly RunsListRun[];
  /** Whether a process is running that works on runs. */
  readonly isDriven: boolean;
}

/** The parameters of _hermes/runs/show. */
export interface RunsShowParams {
  readonly id: string;
}

/** An element of `diffs` in `RunsShowQuestion`. */
export interface RunsShowQuestionDiff {
  /** Absolute. */
  readonly path: string;
  readonly newText: string;
  /** Null if the file does not exist. */
  readonly oldText?: string | null;
}

/** An element of `questions` in `RunsShowResult`. */
export interface RunsShowQuestion {
  readonly callId: string;
  /** What the call would do, or what the agent asks. */
  readonly title: string;
  /** Why approval is needed; empty for a question of the agent. */
  readonly why: string;
  /** The agent asked a question that needs a text answer. */
  readonly isForText: boolean;
  /** The answers that the agent proposes. */
  readonly choices: readonly string[];
  /** The whole arguments of the call as text, if it has no diffs. */
  readonly input: string;
  readonly diffs: readonly RunsShowQuestionDiff[];
}

/** The result of _hermes/runs/show. */
export interface RunsShowResult {
  readonly questions: readonly RunsShowQuestion[];
}

/** The parameters of _hermes/runs/answer. */
export interface RunsAnswerParams {
  readonly id: string;
  readonly callId: string;
  /** True allows this one call; with `text`, it answers a question of the agent. */
  readonly isAllowed: boolean;
  /** The answer to a question of the agent, or a comment that the model reads. */
  readonly text?: string;
}

/** The result of _hermes/runs/answer. */
export interface RunsAnswerResult {
  readonly state: "queued" | "running" | "input_required" | "done" | "failed" | "stopped" | "parked";
}

/** The parameters of _hermes/runs/stop. */
export interface RunsStopParams {
  readonly id: string;
}

/** The result of _hermes/runs/stop. */
export interface RunsStopResult {
  readonly state: "queued" | "running" | "input_required" | "done" | "failed" | "stopped" | "parked";
}

/** The parameters of _hermes/setup/status. */
export interface SetupStatusParams {}

/** An element of `providers` in `SetupStatusResult`. */
export interface SetupStatusProvider {
  readonly name: string;
  /** For people. */
  readonly label: string;
  /** The default address. Empty if one must be specified. */
  readonly baseUrl: string;
  /** The usual model, or empty. */
  readonly model: string;
  /** The variable that holds the key, or would. Empty if none is needed. */
  readonly keyVariable: string;
  /** A key is already stored. */
  readonly hasKey: boolean;
  /** It stands for any endpoint, so an address is required. */
  readonly needsUrl: boolean;
}

/** The result of _hermes/setup/status. */
export interface SetupStatusResult {
  /** A model is configured, or a model server on this machine answers. */
  readonly isReady: boolean;
  /** Why not, for people. Empty if it is ready. */
  readonly problem: string;
  /** In use, or empty. */
  readonly provider: string;
  /** In use, or empty if the endpoint chooses. */
  readonly model: string;
  /** In use, or empty. */
  readonly baseUrl: string;
  /** provider/model, in order. */
  readonly fallbacks: readonly string[];
  /** Where the settings are. It need not exist. */
  readonly configFile: string;
  /** Where keys are stored. It need not exist. */
  readonly secretsFile: string;
  readonly providers: readonly SetupStatusProvider[];
}

/** The parameters of _hermes/setup/check. */
export interface SetupCheckParams {
  /** A name from _hermes/setup/status. */
  readonly provider: string;
  /** Empty for the provider's own, or the one that is set. */
  readonly baseUrl?: string;
  /** Empty for none, or for the stored one. It is sent only to that address, and only _hermes/setup/save stores it. */
  readonly apiKey?: string;
  /** Empty for the provider's usual one. */
  readonly model?: string;
}

/** The result of _hermes/setup/check. */
export interface SetupCheckResult {
  /** As far as the endpoint lists them. */
  readonly models: readonly string[];
  /** The model that was called. Empty if none was. */
  readonly model: string;
  /** The call succeeded. */
  readonly isWorking: boolean;
  /** What the model answered, or the error in the vendor's words. */
  readonly text: string;
}

/** The parameters of _hermes/setup/save. */
export interface SetupSaveParams {
  /** A name from _hermes/setup/status. */
  readonly provider: string;
  /** Empty for the provider's own, or the one that is set. */
  readonly baseUrl?: string;
  /** Empty for none, or for the stored one. It is sent only to that address, and only _hermes/setup/save stores it. */
  readonly apiKey?: string;
  /** Empty for the provider's usual one. */
  readonly model?: string;
}

/** The result of _hermes/setup/save. */
export interface SetupSaveResult {
  /** Where the settings are. */
  readonly configFile: string;
  /** Variables of the environment that take precedence over what was stored. */
  readonly overriddenBy: readonly string[];
}

/** The parameters of _hermes/waiting/list. */
export interface WaitingListParams {}

/** An element of `waiting` in `WaitingListResult`. */
export interface WaitingListWaiting {
  /** A run is answered with `_hermes/runs/answer`; a session asks whoever loads it. */
  readonly kind: "run" | "session";
  /** Of the run or of the session. */
  readonly id: string;
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  /** The session's title, or the first line of the run's prompt. Empty if there is none. */
  readonly title: string;
  /** What is asked, one line each. */
  readonly questions: readonly string[];
  /** Of a run; empty for a session. ISO 8601. */
  readonly updatedAt: string;
}

/** The result of _hermes/waiting/list. */
export interface WaitingListResult {
  readonly waiting: readonly WaitingListWaiting[];
}

/** The parameters of _hermes/schedules/list. */
export interface SchedulesListParams {}

/** An element of `schedules` in `SchedulesListResult`. */
export interface SchedulesListSchedule {
  readonly id: string;
  /** When it is due, in words. */
  readonly when: string;
  /** Empty if it is due once. */
  readonly cron: string;
  /** When it is due once; empty otherwise. ISO 8601. */
  readonly at: string;
  /** The time zone of `cron`. */
  readonly tz: string;
  /** What each run is to do; empty if that is no longer stored. */
  readonly prompt: string;
  /** Absolute. */
  readonly cwd: string;
  readonly late: "once" | "skip" | "within";
  /** The span of `within`, in seconds. */
  readonly lateWithinS: number;
  readonly overlap: "skip" | "queue" | "cancel";
  readonly isPaused: boolean;
  /** Empty if it is never due again, or paused. ISO 8601. */
  readonly nextAt: string;
  /** What added it, such as `session:ID`; empty for a person. */
  readonly origin: string;
  /** What each run may cost. */
  readonly maxCostUsd: number | null;
}

/** The result of _hermes/schedules/list. */
export interface SchedulesListResult {
  readonly schedules: readonly SchedulesListSchedule[];
  /** Whether a process is running that starts them. */
  readonly isDriven: boolean;
  /** The time zone of the server's machine. */
  readonly tz: string;
}

/** The parameters of _hermes/schedules/history. */
export interface SchedulesHistoryParams {
  readonly id: string;
  /** Maximum number, up to 500. */
  readonly limit?: number;
}

/** An element of `occurrences` in `SchedulesHistoryResult`. */
export interface SchedulesHistoryOccurrence {
  /** ISO 8601. */
  readonly dueAt: string;
  /** The last of several due times; empty for one. ISO 8601. */
  readonly until: string;
  readonly count: number;
  /** `missed`: it was too late; `skipped`: the previous run had not ended. */
  readonly fate: "started" | "missed" | "skipped" | "paused";
  /** Empty if none was started. */
  readonly runId: string;
  /** ISO 8601. */
  readonly decidedAt: string;
}

/** The result of _hermes/schedules/history. */
export interface SchedulesHistoryResult {
  readonly occurrences: readonly SchedulesHistoryOccurrence[];
}

/** The parameters of _hermes/schedules/add. */
export interface SchedulesAddParams {
  readonly prompt: string;
  /** Absolute. */
  readonly cwd: string;
  /** Its ID; generated if absent. */
  readonly name?: string;
  /** Five fields. */
  readonly cron?: string;
  /** A local time such as 2026-12-24T18:00. */
  readonly at?: string;
  /** By default, that of the server's machine. */
  readonly tz?: string;
  readonly late?: "once" | "skip" | "within";
  /** The span of `within`, in seconds. */
  readonly lateWithinS?: number;
  readonly overlap?: "skip" | "queue" | "cancel";
  /** What each run may cost. */
  readonly maxCostUsd?: number;
  /** Add nothing. */
  readonly isTrial?: boolean;
}

/** The result of _hermes/schedules/add. */
export interface SchedulesAddResult {
  /** Empty for a trial. */
  readonly id: string;
  /** When it is due, in words. */
  readonly when: string;
  /** Empty if never. ISO 8601. */
  readonly nextAt: string;
}

/** The parameters of _hermes/schedules/change. */
export interface SchedulesChangeParams {
  readonly id: string;
  readonly action: "pause" | "resume" | "remove" | "runNow";
}

/** The result of _hermes/schedules/change. */
export interface SchedulesChangeResult {
  /** The run that was started; empty for other actions. */
  readonly runId: string;
}

/** The parameters of _hermes/board/list. */
export interface BoardListParams {
  /** Name of the board. */
  readonly board?: string;
  /** A cursor from an earlier answer. */
  readonly after?: number;
}

/** An element of `cards` in `BoardListResult`. */
export interface BoardListCard {
  readonly id: string;
  readonly title: string;
  readonly state: "inbox" | "ready" | "running" | "input_required" | "review" | "merging" | "done" | "parked";
  /** The open question in one line, or why it is parked. */
  readonly reason: string;
  /** The cards that must be done first. */
  readonly waitsFor: readonly string[];
  /** Whether its run waits for a worker. */
  readonly isQueued: boolean;
  readonly priority: number;
  readonly folder: string;
  /** Empty if it has none. */
  readonly branch: string;
  /** How many there are. */
  readonly comments: number;
  readonly costUsd: number;
  /** The session that works on it; empty before. */
  readonly sessionId: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** The result of _hermes/board/list. */
export interface BoardListResult {
  /** The names of all boards. */
  readonly boards: readonly string[];
  readonly board: string;
  /** Orders all changes of the board. */
  readonly cursor: number;
  /** Why nothing more is started; empty if nothing prevents it. */
  readonly halted: string;
  /** What all cards have used. */
  readonly tokens: number;
  readonly costUsd: number;
  /** Limits of the board. */
  readonly maxTokens: number | null;
  readonly maxCostUsd: number | null;
  readonly maxRunning: number | null;
  readonly cards: readonly BoardListCard[];
  /** Cards that were removed after the cursor. */
  readonly removed: readonly string[];
}

/** The parameters of _hermes/board/show. */
export interface BoardShowParams {
  readonly id: string;
  /** Name of the board. */
  readonly board?: string;
}

/** An element of `links` in `BoardShowResult`. */
export interface BoardShowLink {
  readonly kind: "blocks" | "parent" | "found_in";
  readonly cardId: string;
  readonly title: string;
  readonly state: "inbox" | "ready" | "running" | "input_required" | "review" | "merging" | "done" | "parked";
  /** Whether the other card has the link to this one. */
  readonly isIncoming: boolean;
}

/** An element of `comments` in `BoardShowResult`. */
export interface BoardShowComment {
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
  readonly text: string;
}

/** An element of `diffs` in `BoardShowQuestion`. */
export interface BoardShowQuestionDiff {
  /** Absolute. */
  readonly path: string;
  readonly newText: string;
  /** Null if the file does not exist. */
  readonly oldText?: string | null;
}

/** An element of `questions` in `BoardShowResult`. */
export interface BoardShowQuestion {
  readonly callId: string;
  /** What the call would do, or what the agent asks. */
  readonly title: string;
  /** Why approval is needed; empty for a question of the agent. */
  readonly why: string;
  /** The agent asked a question that needs a text answer. */
  readonly isForText: boolean;
  /** The answers that the agent proposes. */
  readonly choices: readonly string[];
  /** The whole arguments of the call as text, if it has no diffs. */
  readonly input: string;
  readonly diffs: readonly BoardShowQuestionDiff[];
}

/** An element of `history` in `BoardShowResult`. */
export interface BoardShowHistory {
  /** ISO 8601. */
  readonly at: string;
  readonly by: string;
  /** What happened, such as `moved`. */
  readonly kind: string;
  /** The state that it was moved to; empty otherwise. */
  readonly state: string;
  /** Reason, result, comment or answer. */
  readonly text: string;
}

/** The result of _hermes/board/show. */
export interface BoardShowResult {
  /** The prompt of its first attempt. Empty: its title is. */
  readonly text: string;
  readonly result: string;
  /** The prompt of the next attempt of a card that was sent back. */
  readonly words: string;
  readonly createdBy: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Absolute; where the work happens. */
  readonly folder: string;
  /** Its own git worktree, or the folder itself. */
  readonly worktree: "own" | "same";
  /** 1 (first) to 5. */
  readonly priority: number;
  /** What its work may cost. */
  readonly maxCostUsd: number | null;
  /** Commands that must succeed before the result is merged. */
  readonly checks: readonly string[];
  readonly model: string;
  /** Label of the workers that may take it; empty: the board's. */
  readonly place: string;
  readonly links: readonly BoardShowLink[];
  readonly comments: readonly BoardShowComment[];
  /** Of its last attempt; empty if there is none. */
  readonly runId: string;
  /** Empty without a run. */
  readonly runState: string;
  /** The commit where its branch began. */
  readonly base: string;
  readonly tokens: number;
  readonly questions: readonly BoardShowQuestion[];
  readonly history: readonly BoardShowHistory[];
}

/** The parameters of _hermes/board/diff. */
export interface BoardDiffParams {
  readonly id: string;
  /** Name of the board. */
  readonly board?: string;
}

/** The result of _hermes/board/diff. */
export interface BoardDiffResult {
  /** Empty if nothing is changed. */
  readonly patch: string;
  /** Whether more is changed than the patch shows. */
  readonly isCut: boolean;
  /** Why there is no patch; empty otherwise. */
  readonly note: string;
}

/** The parameters of _hermes/board/add. */
export interface BoardAddParams {
  readonly title: string;
  /** Name of the board. */
  readonly board?: string;
  readonly text?: string;
  readonly to?: "inbox" | "ready";
  /** Absolute; where the work happens. */
  readonly folder?: string;
  /** Its own git worktree, or the folder itself. */
  readonly worktree?: "own" | "same";
  /** 1 (first) to 5. */
  readonly priority?: number;
  /** What its work may cost. */
  readonly maxCostUsd?: number | null;
  /** Commands that must succeed before the result is merged. */
  readonly checks?: readonly string[];
  readonly model?: string;
  /** Label of the workers that may take it; empty: the board's. */
  readonly place?: string;
  /** Cards that must be done first. */
  readonly blockedBy?: readonly string[];
}

/** The result of _hermes/board/add. */
export interface BoardAddResult {
  readonly cursor: number;
  readonly id: string;
}

/** The parameters of _hermes/board/edit. */
export interface BoardEditParams {
  readonly id: string;
  /** Name of the board. */
  readonly board?: string;
  readonly title?: string;
  readonly text?: string;
  /** Absolute; where the work happens. */
  readonly folder?: string;
  /** Its own git worktree, or the folder itself. */
  readonly worktree?: "own" | "same";
  /** 1 (first) to 5. */
  readonly priority?: number;
  /** What its work may cost. */
  readonly maxCostUsd?: number | null;
  /** Commands that must succeed before the result is merged. */
  readonly checks?: readonly string[];
  readonly model?: string;
  /** Label of the workers that may take it; empty: the board's. */
  readonly place?: string;
}

/** The result of _hermes/board/edit. */
export interface BoardEditResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/move. */
export interface BoardMoveParams {
  readonly id: string;
  readonly to: "inbox" | "ready" | "running" | "input_required" | "review" | "merging" | "done" | "parked";
  /** Name of the board. */
  readonly board?: string;
  readonly reason?: string;
}

/** The result of _hermes/board/move. */
export interface BoardMoveResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/comment. */
export interface BoardCommentParams {
  readonly id: string;
  readonly text: string;
  /** Name of the board. */
  readonly board?: string;
}

/** The result of _hermes/board/comment. */
export interface BoardCommentResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/answer. */
export interface BoardAnswerParams {
  readonly id: string;
  readonly callId: string;
  readonly isAllowed: boolean;
  /** Name of the board. */
  readonly board?: string;
  /** An answer to a question for text, or a comment. */
  readonly text?: string;
}

/** The result of _hermes/board/answer. */
export interface BoardAnswerResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/approve. */
export interface BoardApproveParams {
  readonly id: string;
  /** Name of the board. */
  readonly board?: string;
  readonly comment?: string;
}

/** The result of _hermes/board/approve. */
export interface BoardApproveResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/send_back. */
export interface BoardSendBackParams {
  readonly id: string;
  /** What to change. */
  readonly words: string;
  /** Name of the board. */
  readonly board?: string;
}

/** The result of _hermes/board/send_back. */
export interface BoardSendBackResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/park. */
export interface BoardParkParams {
  readonly id: string;
  /** Name of the board. */
  readonly board?: string;
  readonly reason?: string;
}

/** The result of _hermes/board/park. */
export interface BoardParkResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/link. */
export interface BoardLinkParams {
  readonly id: string;
  readonly kind: "blocks" | "parent" | "found_in";
  readonly cardId: string;
  /** Name of the board. */
  readonly board?: string;
  readonly isRemoved?: boolean;
}

/** The result of _hermes/board/link. */
export interface BoardLinkResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/remove. */
export interface BoardRemoveParams {
  readonly id: string;
  /** Name of the board. */
  readonly board?: string;
  readonly isRestored?: boolean;
}

/** The result of _hermes/board/remove. */
export interface BoardRemoveResult {
  /** The board's cursor after the action. */
  readonly cursor: number;
}

/** The parameters of _hermes/board/watch. */
export interface BoardWatchParams {
  /** A cursor of `_hermes/board/list`. */
  readonly after: number;
  /** Name of the board. */
  readonly board?: string;
}

/** The result of _hermes/board/watch. */
export interface BoardWatchResult {
  readonly cursor: number;
}

/** The parameters of _hermes/board/changed. */
export interface BoardChangedParams {
  readonly board: string;
  readonly cursor: number;
}

/** The parameters of _hermes/files/find. */
export interface FilesFindParams {
  readonly sessionId: string;
  readonly query?: string;
  /** Maximum number, up to 100. */
  readonly limit?: number;
}

/** An element of `files` in `FilesFindResult`. */
export interface FilesFindFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the working directory. */
  readonly name: string;
}

/** The result of _hermes/files/find. */
export interface FilesFindResult {
  readonly files: readonly FilesFindFile[];
}

/** The parameters of _hermes/usage/list. */
export interface UsageListParams {
  /** How many days to cover, up to 400, in the server's time zone. Today is the last. */
  readonly days?: number;
  /** What to group by. */
  readonly by?: "day" | "model" | "workspace" | "profile" | "tool";
}

/** An element of `groups` in `UsageListResult`. */
export interface UsageListGroup {
  /** The day (YYYY-MM-DD), model, workspace, profile or tool. Empty if it is not known. */
  readonly name: string;
  /** Requests to models; of a tool, its calls. */
  readonly requests: number;
  /** How many of the requests or calls failed. */
  readonly failed: number;
  readonly inputTokens: number;
  /** The part of the input that came from the provider's cache. */
  readonly cachedTokens: number;
  /** Of a tool, the estimated tokens of its results. */
  readonly outputTokens: number;
  /** In US dollars, as far as prices are known. */
  readonly costUsd: number;
  /** Of a tool, the seconds that its calls took. */
  readonly tookS: number;
}

/** An element of `sessions` in `UsageListResult`. */
export interface UsageListSession {
  readonly sessionId: string;
  readonly title: string;
  /** Absolute. */
  readonly cwd: string;
  /** ISO 8601. */
  readonly updatedAt: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars, as far as prices are known. */
  readonly costUsd: number;
}

/** The result of _hermes/usage/list. */
export interface UsageListResult {
  /** In order of their names. Days without usage are left out. */
  readonly groups: readonly UsageListGroup[];
  /** Within these days, newest first; at most 1,000. */
  readonly sessions: readonly UsageListSession[];
  /** YYYY-MM-DD. */
  readonly firstDay: string;
  /** YYYY-MM-DD. */
  readonly lastDay: string;
  /** Whether all sessions of these days are listed. The groups always count all of them. */
  readonly isWhole: boolean;
}

/** The parameters of _hermes/files/read. */
export interface FilesReadParams {
  readonly sessionId: string;
  /** Absolute, or relative to the working directory. */
  readonly path: string;
}

/** The result of _hermes/files/read. */
export interface FilesReadResult {
  /** Absolute, with links followed. */
  readonly path: string;
  /** Relative to the working directory. */
  readonly name: string;
  readonly text: string;
  readonly sizeBytes: number;
  /** Whether the text is only the beginning of a larger file. */
  readonly isCut: boolean;
}

/** The parameters of _hermes/files/fetch. */
export interface FilesFetchParams {
  readonly sessionId: string;
  /** Absolute, or relative to the working directory. */
  readonly path: string;
}

/** The result of _hermes/files/fetch. */
export interface FilesFetchResult {
  /** Absolute, with links followed. */
  readonly path: string;
  /** Relative to the working directory. */
  readonly name: string;
  readonly mimeType: string;
  /** The content in base64. */
  readonly data: string;
}

/** The parameters of _hermes/speech/transcribe. */
export interface SpeechTranscribeParams {
  /** Such as `audio/webm`. */
  readonly mimeType: string;
  /** The recording in base64. */
  readonly data: string;
}

/** The result of _hermes/speech/transcribe. */
export interface SpeechTranscribeResult {
  readonly text: string;
}

/** The parameters of _hermes/settings/list. */
export interface SettingsListParams {}

/** An element of `settings` in `SettingsListResult`. */
export interface SettingsListSetting {
  /** As in `config.yaml`, such as `budget.max_steps`. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly kind: "integer" | "number" | "choice";
  /** What applies now; empty for none. */
  readonly value: string;
  /** What applies if nothing is set; empty for none. */
  readonly fallback: string;
  readonly choices: readonly string[];
  /** Whether the settings file sets it. */
  readonly isSet?: boolean;
}

/** The result of _hermes/settings/list. */
export interface SettingsListResult {
  readonly settings: readonly SettingsListSetting[];
}

/** The parameters of _hermes/settings/change. */
export interface SettingsChangeParams {
  readonly name: string;
  /** Empty: as if it were not in the file. */
  readonly value: string;
}

/** The result of _hermes/settings/change. */
export interface SettingsChangeResult {}

export interface OwnMethods {
  "_hermes/diagnostics": { params: DiagnosticsParams; result: DiagnosticsResult };
  "_hermes/checkpoints/list": { params: CheckpointsListParams; result: CheckpointsListResult };
  "_hermes/checkpoints/diff": { params: CheckpointsDiffParams; result: CheckpointsDiffResult };
  "_hermes/checkpoints/restore": { params: CheckpointsRestoreParams; result: CheckpointsRestoreResult };
  "_hermes/edits/list": { params: EditsListParams; result: EditsListResult };
  "_hermes/edits/judge": { params: EditsJudgeParams; result: EditsJudgeResult };
  "_hermes/edits/draft": { params: EditsDraftParams; result: undefined };
  "_hermes/edits/judged": { params: EditsJudgedParams; result: undefined };
  "_hermes/sessions/search": { params: SessionsSearchParams; result: SessionsSearchResult };
  "_hermes/mcp/list": { params: McpListParams; result: McpListResult };
  "_hermes/mcp/change": { params: McpChangeParams; result: McpChangeResult };
  "_hermes/context/list": { params: ContextListParams; result: ContextListResult };
  "_hermes/trust/list": { params: TrustListParams; result: TrustListResult };
  "_hermes/trust/approve": { params: TrustApproveParams; result: TrustApproveResult };
  "_hermes/trust/revoke": { params: TrustRevokeParams; result: TrustRevokeResult };
  "_hermes/runs/list": { params: RunsListParams; result: RunsListResult };
  "_hermes/runs/show": { params: RunsShowParams; result: RunsShowResult };
  "_hermes/runs/answer": { params: RunsAnswerParams; result: RunsAnswerResult };
  "_hermes/runs/stop": { params: RunsStopParams; result: RunsStopResult };
  "_hermes/setup/status": { params: SetupStatusParams; result: SetupStatusResult };
  "_hermes/setup/check": { params: SetupCheckParams; result: SetupCheckResult };
  "_hermes/setup/save": { params: SetupSaveParams; result: SetupSaveResult };
  "_hermes/waiting/list": { params: WaitingListParams; result: WaitingListResult };
  "_hermes/schedules/list": { params: SchedulesListParams; result: SchedulesListResult };
  "_hermes/schedules/history": { params: SchedulesHistoryParams; result: SchedulesHistoryResult };
  "_hermes/schedules/add": { params: SchedulesAddParams; result: SchedulesAddResult };
  "_hermes/schedules/change": { params: SchedulesChangeParams; result: SchedulesChangeResult };
  "_hermes/board/list": { params: BoardListParams; result: BoardListResult };
  "_hermes/board/show": { params: BoardShowParams; result: BoardShowResult };
  "_hermes/board/diff": { params: BoardDiffParams; result: BoardDiffResult };
  "_hermes/board/add": { params: BoardAddParams; result: BoardAddResult };
  "_hermes/board/edit": { params: BoardEditParams; result: BoardEditResult };
  "_hermes/board/move": { params: BoardMoveParams; result: BoardMoveResult };
  "_hermes/board/comment": { params: BoardCommentParams; result: BoardCommentResult };
  "_hermes/board/answer": { params: BoardAnswerParams; result: BoardAnswerResult };
  "_hermes/board/approve": { params: BoardApproveParams; result: BoardApproveResult };
  "_hermes/board/send_back": { params: BoardSendBackParams; result: BoardSendBackResult };
  "_hermes/board/park": { params: BoardParkParams; result: BoardParkResult };
  "_hermes/board/link": { params: BoardLinkParams; result: BoardLinkResult };
  "_hermes/board/remove": { params: BoardRemoveParams; result: BoardRemoveResult };
  "_hermes/board/watch": { params: BoardWatchParams; result: BoardWatchResult };
  "_hermes/board/changed": { params: BoardChangedParams; result: undefined };
  "_hermes/files/find": { params: FilesFindParams; result: FilesFindResult };
  "_hermes/usage/list": { params: UsageListParams; result: UsageListResult };
  "_hermes/files/read": { params: FilesReadParams; result: FilesReadResult };
  "_hermes/files/fetch": { params: FilesFetchParams; result: FilesFetchResult };
  "_hermes/speech/transcribe": { params: SpeechTranscribeParams; result: SpeechTranscribeResult };
  "_hermes/settings/list": { params: SettingsListParams; result: SettingsListResult };
  "_hermes/settings/change": { params: SettingsChangeParams; result: SettingsChangeResult };
}
