/**
 * What our own methods carry; generated from protocol/schema/hermes.json by protocol/generate.py.
 *
 * Knows: the shape of every object of theirs. Does not know: who sends or serves them.
 */

/** The parameters of _hermes/diagnostics. */
export interface DiagnosticsParams {
  readonly sessionId: string;
  /** Absolute. */
  readonly path: string;
}

/** One of the diagnostics in `DiagnosticsResult`. */
export interface DiagnosticsDiagnostic {
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly message: string;
  readonly column?: number;
  readonly severity?: "error" | "warning" | "information" | "hint";
  /** Who says so, such as the name of a linter. */
  readonly source?: string | null;
}

/** The result of _hermes/diagnostics. */
export interface DiagnosticsResult {
  readonly diagnostics: readonly DiagnosticsDiagnostic[];
}

/** The parameters of _hermes/checkpoints/list. */
export interface CheckpointsListParams {
  readonly sessionId: string;
  /** List undos too, which can themselves be restored. */
  readonly includeUndos?: boolean;
}

/** One of the files in `CheckpointsListCheckpoint`. */
export interface CheckpointsListCheckpointFile {
  /** Absolute. */
  readonly path: string;
  readonly change: "added" | "modified" | "deleted" | "renamed";
  /** Where a renamed file was. */
  readonly oldPath?: string;
}

/** One of the checkpoints in `CheckpointsListResult`. */
export interface CheckpointsListCheckpoint {
  readonly id: string;
  /** Empty for an undo. */
  readonly turnId: string;
  readonly createdAt: string;
  /** The first line of the prompt. */
  readonly title: string;
  readonly kind: "turn" | "undo";
  readonly files: readonly CheckpointsListCheckpointFile[];
  /** Files that are never restored: too large, or not to be read. */
  readonly leftOut: readonly string[];
  /** It was taken back, and what took it back was not. */
  readonly isUndone: boolean;
  /** The agent's process ended during the turn; `files` may be changes of others too, and it is restored by force alone. */
  readonly isTorn: boolean;
}

/** The result of _hermes/checkpoints/list. */
export interface CheckpointsListResult {
  readonly checkpoints: readonly CheckpointsListCheckpoint[];
}

/** The parameters of _hermes/checkpoints/diff. */
export interface CheckpointsDiffParams {
  readonly sessionId: string;
  /** A checkpoint's id, from the list. */
  readonly id: string;
}

/** One of the files in `CheckpointsDiffResult`. */
export interface CheckpointsDiffFile {
  /** Absolute. */
  readonly path: string;
  /** Null where the file was not there. */
  readonly oldText?: string | null;
  /** Null where it is gone. */
  readonly newText?: string | null;
  /** In the place of both texts. */
  readonly binary?: true;
}

/** The result of _hermes/checkpoints/diff. */
export interface CheckpointsDiffResult {
  readonly files: readonly CheckpointsDiffFile[];
}

/** The parameters of _hermes/checkpoints/restore. */
export interface CheckpointsRestoreParams {
  readonly sessionId: string;
  /** A checkpoint's id, from the list. */
  readonly id: string;
  /** Only these files, as the list names them. */
  readonly paths?: readonly string[] | null;
  /** Overwrite what others changed since, too. */
  readonly force?: boolean;
}

/** One of the conflicts in `CheckpointsRestoreResult`. */
export interface CheckpointsRestoreConflict {
  readonly path: string;
  readonly why: string;
}

/** The result of _hermes/checkpoints/restore. */
export interface CheckpointsRestoreResult {
  /** Files put back, taken away ones included. */
  readonly restored: readonly string[];
  /** Files that were left alone. */
  readonly conflicts: readonly CheckpointsRestoreConflict[];
  /** Restoring it undoes this; empty where nothing was done. */
  readonly checkpointId: string;
}

/** The parameters of _hermes/edits/list. */
export interface EditsListParams {
  readonly sessionId: string;
  /** List what was judged too. */
  readonly includeJudged?: boolean;
}

/** One of the hunks in `EditsListFile`. */
export interface EditsListFileHunk {
  /** The first line that goes, counted from 0. */
  readonly oldStart: number;
  /** Without their line feeds; what stands behind the last one of a file is a line too. */
  readonly oldLines: readonly string[];
  /** The first line that comes, counted from 0. */
  readonly newStart: number;
  readonly newLines: readonly string[];
}

/** One of the files in `EditsListResult`. */
export interface EditsListFile {
  /** Absolute. */
  readonly path: string;
  /** Names exactly this state; other hunks, another name. */
  readonly revision: string;
  /** The calls that made what is open. */
  readonly callIds: readonly string[];
  /** What the user agreed to so far; null where there was no file. Of a big file texts may be only a part. */
  readonly oldText: string | null;
  /** What is there now; null where the file is gone. */
  readonly newText: string | null;
  /** What is open, in order; verdicts name them by their place here, from 0. */
  readonly hunks: readonly EditsListFileHunk[];
}

/** One of the hunks in `EditsListWaitingFile`. */
export interface EditsListWaitingFileHunk {
  /** The first line that goes, counted from 0. */
  readonly oldStart: number;
  /** Without their line feeds; what stands behind the last one of a file is a line too. */
  readonly oldLines: readonly string[];
  /** The first line that comes, counted from 0. */
  readonly newStart: number;
  readonly newLines: readonly string[];
}

/** One of the files in `EditsListWaiting`. */
export interface EditsListWaitingFile {
  readonly path: string;
  /** Null for a new file. */
  readonly oldText: string | null;
  /** Null for one that would be deleted. */
  readonly newText: string | null;
  readonly hunks: readonly EditsListWaitingFileHunk[];
}

/** One of the waiting in `EditsListResult`. */
export interface EditsListWaiting {
  readonly callId: string;
  readonly title: string;
  readonly files: readonly EditsListWaitingFile[];
}

/** One of the judged in `EditsListResult`. */
export interface EditsListJudged {
  readonly path: string;
  readonly verdict: "accepted" | "rejected";
  /** How many. */
  readonly hunks: number;
  /** What was rejected, as the model is told. */
  readonly parts: readonly string[];
}

/** The result of _hermes/edits/list. */
export interface EditsListResult {
  readonly files: readonly EditsListFile[];
  /** Calls that wait for session/request_permission; their hunks are judged by its answer, with `hermes.edits`. */
  readonly waiting: readonly EditsListWaiting[];
  /** The oldest first; empty unless asked for. */
  readonly judged: readonly EditsListJudged[];
}

/** The parameters of _hermes/edits/judge. */
export interface EditsJudgeParams {
  readonly sessionId: string;
  readonly verdict: "accepted" | "rejected";
  /** Only this file. */
  readonly path?: string;
  /** Only these hunks of the file, by their places in the list. */
  readonly hunks?: readonly number[];
  /** That of the list the numbers are from; the call fails where the file was edited since. */
  readonly revision?: string;
  /** The client itself takes what is rejected out of the file, such as in an open document. */
  readonly isDone?: boolean;
}

/** The result of _hermes/edits/judge. */
export interface EditsJudgeResult {
  /** How many hunks of the session are open now. */
  readonly open: number;
}

/** The parameters of _hermes/edits/draft. */
export interface EditsDraftParams {
  readonly sessionId: string;
  /** That of the tool call that follows, where the model's answer comes to its end. */
  readonly callId: string;
  /** As the model wrote it: absolute, or relative to the session's working directory. */
  readonly path: string;
  /** What comes, as far as it is written. */
  readonly newText: string;
  /** Nothing is missing of `newText` any more. */
  readonly isWhole: boolean;
  /** The passage that gives way, all of it; missing where the file is written whole. */
  readonly oldText?: string;
}

/** The parameters of _hermes/edits/judged. */
export interface EditsJudgedParams {
  readonly sessionId: string;
  /** Absolute. */
  readonly path: string;
  /** How many hunks of the file are left to judge. */
  readonly open: number;
}

/** The parameters of _hermes/sessions/search. */
export interface SessionsSearchParams {
  readonly query: string;
  /** Only sessions of this working directory. */
  readonly cwd?: string | null;
  /** At most so many finds. */
  readonly limit?: number;
  /** Also what says the like in other words, where recall.embeddings is set. */
  readonly byMeaning?: boolean;
}

/** One of the found in `SessionsSearchResult`. */
export interface SessionsSearchFound {
  readonly sessionId: string;
  readonly title: string;
  readonly cwd: string;
  readonly updatedAt: string;
  /** The place of the message in its session. */
  readonly position: number;
  readonly speaker: "user" | "agent" | "tool" | "title";
  /** The message around the words. */
  readonly text: string;
  /** Where the words are in the text: from, to, in characters of Unicode. */
  readonly highlights: readonly (readonly number[])[];
}

/** The result of _hermes/sessions/search. */
export interface SessionsSearchResult {
  readonly found: readonly SessionsSearchFound[];
  /** How many sessions have words that were not read for this search. */
  readonly unreadSessions: number;
  /** What was left out of the search and why, for its user; absent where nothing was. */
  readonly note?: string;
}

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
}
