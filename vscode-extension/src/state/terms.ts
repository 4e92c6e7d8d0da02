/** The value types of a conversation, shared by the panel and the host. */

import type { Mention, Picture } from "../panel/protocol";

export type CallKind =
  "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other";
/** A call with a special rendering: one that sets the plan, or a post-turn review. */
export type CallRole = "plan" | "review";
export type CallStatus = "pending" | "in_progress" | "completed" | "failed";
export type Severity = "info" | "warning" | "error";
export type Verdict = "open" | "accepted" | "rejected";

/** An attachment of a prompt: a file, a picture, a passage. `data` is a data URL for pictures. */
export interface Attachment {
  readonly kind: "file" | "folder" | "image" | "text";
  readonly label: string;
  readonly uri?: string;
  readonly data?: string;
}

/** A whole file before and after; `oldText` is null for a new file. */
export interface FileDiff {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
}

/** A call: the agent's ID and the session, because IDs may repeat between sessions. */
export interface CallRef {
  readonly sessionId: string;
  readonly callId: string;
}

export type CallContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "diff"; readonly diff: FileDiff }
  | { readonly type: "terminal"; readonly terminalId: string };

export interface Place {
  readonly path: string;
  readonly line?: number;
}

export interface AnswerOption {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
}

/** A question on a card, open until it has an `answer`: the ID of an option, or "" if it was withdrawn. */
export interface Approval {
  readonly requestId: string;
  readonly options: readonly AnswerOption[];
  /** The reason for asking, as a sentence. */
  readonly reason?: string;
  /** Whether it deletes, publishes or contacts other machines, according to the agent. */
  readonly isWarning?: boolean;
  readonly answer?: string;
  /** The user's comment. */
  readonly comment?: string;
}

export interface UserItem {
  readonly type: "user";
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly isWaiting: boolean;
  /** The agent's ID, or undefined if it was not recorded as a prompt. */
  readonly messageId?: string;
  /** When it was sent, in ms. */
  readonly saidAt?: number;
}
export interface AgentItem {
  readonly type: "agent";
  readonly id: string;
  readonly text: string;
  /** Whether its step failed and is being retried. */
  readonly isVoid?: boolean;
}
export interface ThoughtItem {
  readonly type: "thought";
  readonly id: string;
  readonly text: string;
  readonly isVoid?: boolean;
}
/** A start time and a duration, both in ms. */
export interface Clock {
  readonly beganAt: number;
  readonly tookMs?: number;
}
/** When a turn started and how it spent its time, according to the agent; all in ms. */
export interface TurnTimes {
  readonly beganAt: number;
  readonly totalMs: number;
  readonly modelMs: number;
  /** The time to the first text, or undefined without any. */
  readonly firstWordMs?: number;
  readonly toolsMs: number;
  readonly waitingMs: number;
}
/** An answer given in another client that has the session open. */
export interface AnswerElsewhere {
  readonly by: string;
  readonly isYes: boolean;
}
export interface CallItem {
  readonly type: "call";
  readonly id: string;
  readonly role?: CallRole;
  /** Earlier calls that set the plan on this card. */
  readonly earlier?: readonly string[];
  readonly clock?: Clock;
  readonly title: string;
  readonly kind: CallKind;
  readonly status: CallStatus;
  readonly content: readonly CallContent[];
  readonly places: readonly Place[];
  readonly exitCode?: number;
  /** The full command, if the title is only one line of it. */
  readonly command?: string;
  /** Whether a shell runs it. Otherwise it is a script, or the text that a question is about. */
  readonly isShell?: boolean;
  /** A command's output according to the agent, or undefined for other calls. */
  readonly output?: string;
  /** How an interrupted command ended, such as by a timeout. */
  readonly ending?: string;
  readonly approval?: Approval;
  /** The user's comment on rejecting it, according to the agent, or undefined if not rejected. */
  readonly rejected?: string;
  readonly elsewhere?: AnswerElsewhere;
  /** By path, the verdict on each hunk of the file's diff. */
  readonly verdicts: Readonly<Record<string, readonly Verdict[]>>;
}
/** A child agent of this session: its activity, line by line, and its text. */
export interface ChildItem {
  readonly type: "child";
  readonly id: string;
  readonly title: string;
  readonly state: "running" | "asking" | "done" | "failed" | "cancelled";
  readonly error: string;
  readonly calls: readonly ChildCall[];
  readonly text: string;
}
export interface ChildCall {
  readonly id: string;
  readonly title: string;
  readonly kind: CallKind;
  readonly status: CallStatus;
}
export interface NoticeItem {
  readonly type: "notice";
  readonly id: string;
  readonly severity: Severity;
  readonly text: string;
  /** Whether it reports the retry of a failed step. The next such notice replaces it. */
  readonly isRetry?: boolean;
}
/** How a turn ended; `reason` is the protocol's stop reason, "failed" or "lost". */
export interface EndItem {
  readonly type: "end";
  readonly id: string;
  readonly reason: string;
  readonly text: string;
  /** Whether it failed because no model is set up, or its key is refused. */
  readonly needsSetUp?: boolean;
  readonly tookMs?: number;
  readonly times?: TurnTimes;
  /** Whether to offer resending the prompt first, because a key was refused or a quota is used up. */
  readonly isToRetry?: boolean;
  readonly checkpoint?: Checkpoint;
  /** The question that was open when the turn was lost. */
  readonly unanswered?: string;
  /** The plan, if the turn left some of it undone. */
  readonly plan?: readonly PlanEntry[];
}
export interface SummaryItem {
  readonly type: "summary";
  readonly id: string;
  readonly status: string;
  readonly text: string;
}
export interface QuestionField {
  readonly name: string;
  readonly title: string;
  readonly kind: "text" | "number" | "boolean" | "choice";
  readonly choices: readonly string[];
  readonly isRequired: boolean;
}
/** The agent's own question, to be answered with text, a form, or on a page. */
export interface QuestionItem {
  readonly type: "question";
  readonly id: string;
  readonly text: string;
  readonly url?: string;
  readonly fields: readonly QuestionField[];
  readonly answer?: string;
}
export type Item =
  UserItem | AgentItem | ThoughtItem | CallItem | ChildItem | NoticeItem | EndItem | SummaryItem | QuestionItem;

export interface PlanEntry {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

export interface SlashCommand {
  readonly name: string;
  readonly description: string;
  readonly hint: string;
}

export interface Choice {
  readonly value: string;
  readonly name: string;
  readonly description: string;
}
export type Option =
  | {
      readonly type: "select";
      readonly id: string;
      readonly name: string;
      readonly category: string;
      readonly value: string;
      readonly choices: readonly Choice[];
    }
  | { readonly type: "switch"; readonly id: string; readonly name: string; readonly isOn: boolean };

export interface Usage {
  readonly used: number;
  readonly size: number;
  readonly cost?: number;
  readonly currency?: string;
}

/** The undoable changes of one turn. */
export interface Checkpoint {
  readonly id: string;
  readonly files: readonly { readonly path: string; readonly change: string }[];
  readonly isRestored: boolean;
  /** The session that stores it, if that is another one whose history this session includes. */
  readonly sessionId?: string;
}

/** The origin of a session created by a rewind, so that the rewind can be undone. */
export interface Rewound {
  /** The original session, which is kept. */
  readonly from: string;
  /** The undos of file changes, in order. */
  readonly undos: readonly { readonly sessionId: string; readonly id: string }[];
}

/** A message that waits for the running turn to end, with its attachments. */
export interface QueuedPrompt {
  readonly id: string;
  readonly text: string;
  readonly mentions: readonly Mention[];
  readonly pictures: readonly Picture[];
}

export interface TerminalState {
  readonly output: string;
  readonly exitCode?: number | null;
}
