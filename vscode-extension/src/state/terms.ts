/**
 * The values a conversation is made of, as the panel and the host both see them.
 *
 * Knows: items, cards, options. Does not know: the wire, the editor, how anything is drawn.
 */

import type { Mention, Picture } from "../panel/protocol";

export type CallKind =
  "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other";
/** A call that is drawn in a way of its own: one that sets the plan, or the review of a turn that is over. */
export type CallRole = "plan" | "review";
export type CallStatus = "pending" | "in_progress" | "completed" | "failed";
export type Severity = "info" | "warning" | "error";
export type Verdict = "open" | "accepted" | "rejected";

/** Something that came with a prompt: a file, a picture, a passage. `data` is a data URL for pictures. */
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

/** A call: the agent's id for it, and the session that it was made in, as ids need not differ between sessions. */
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

/** A question on a card: open until it has an `answer`, the id of an option or "" where it was taken back. */
export interface Approval {
  readonly requestId: string;
  readonly options: readonly AnswerOption[];
  /** Why the agent asks, in a sentence. */
  readonly reason?: string;
  /** Whether it deletes, publishes or reaches other machines, as the agent says. */
  readonly isWarning?: boolean;
  readonly answer?: string;
  /** What the user said to it. */
  readonly comment?: string;
}

export interface UserItem {
  readonly type: "user";
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly isWaiting: boolean;
  /** The id by which the agent knows it; undefined for what it did not record as a prompt. */
  readonly messageId?: string;
  /** When it was said, in ms. */
  readonly saidAt?: number;
}
export interface AgentItem {
  readonly type: "agent";
  readonly id: string;
  readonly text: string;
  /** Whether the step failed that said it, and is tried again. */
  readonly isVoid?: boolean;
}
export interface ThoughtItem {
  readonly type: "thought";
  readonly id: string;
  readonly text: string;
  readonly isVoid?: boolean;
}
/** When something began, and how long it took; both in ms. */
export interface Clock {
  readonly beganAt: number;
  readonly tookMs?: number;
}
/** When a turn began and what its time was spent on, as the agent counts it; all in ms. */
export interface TurnTimes {
  readonly beganAt: number;
  readonly totalMs: number;
  readonly modelMs: number;
  /** How long the first words took; undefined where there were none. */
  readonly firstWordMs?: number;
  readonly toolsMs: number;
  readonly waitingMs: number;
}
/** An answer that was given in another client which has the session open. */
export interface AnswerElsewhere {
  readonly by: string;
  readonly isYes: boolean;
}
export interface CallItem {
  readonly type: "call";
  readonly id: string;
  readonly role?: CallRole;
  /** Calls that set the plan before, whose card this is. */
  readonly earlier?: readonly string[];
  readonly clock?: Clock;
  readonly title: string;
  readonly kind: CallKind;
  readonly status: CallStatus;
  readonly content: readonly CallContent[];
  readonly places: readonly Place[];
  readonly exitCode?: number;
  /** What is run, whole, where the title is only a line. */
  readonly command?: string;
  /** Whether a shell runs it; else it is a script, or the text that a question is about. */
  readonly isShell?: boolean;
  /** What a command put out, as the agent keeps it; undefined for what is no command. */
  readonly output?: string;
  /** How a command ended that did not end by itself, such as that it took too long. */
  readonly ending?: string;
  readonly approval?: Approval;
  /** The word with which its user said no, as the agent remembers it; undefined where they did not. */
  readonly rejected?: string;
  readonly elsewhere?: AnswerElsewhere;
  /** By path: what was decided of each hunk of that file's diff. */
  readonly verdicts: Readonly<Record<string, readonly Verdict[]>>;
}
/** A child agent at work for this session: what it does, line by line, and what it says. */
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
  /** Whether it says that a failed step is tried again; the next such notice replaces it. */
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
  /** Whether to offer the same prompt again before anything else: a key was refused, or a quota is used up. */
  readonly isToRetry?: boolean;
  readonly checkpoint?: Checkpoint;
  /** What waited for an answer when the turn was lost. */
  readonly unanswered?: string;
  /** The plan, where the turn left something of it undone. */
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
/** A question of the agent's own, to be answered in words, by filling in a form, or on a page. */
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

/** What one turn changed and can be undone. */
export interface Checkpoint {
  readonly id: string;
  readonly files: readonly { readonly path: string; readonly change: string }[];
  readonly isRestored: boolean;
  /** The session that keeps it, where that is another: one whose past this session has. */
  readonly sessionId?: string;
}

/** How a session came from another that was rewound; with it the rewind can be undone. */
export interface Rewound {
  /** The session as it was, which is kept. */
  readonly from: string;
  /** What undid the changes of files, in the order in which that was done. */
  readonly undos: readonly { readonly sessionId: string; readonly id: string }[];
}

/** A message that waits for the running turn to end, with everything that goes along. */
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
