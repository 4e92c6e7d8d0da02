/** The messages between the host and the panel. */

import type { SessionEvent } from "../state/events";
import type { Activity, Session } from "../state/session";
import type { Severity, Verdict } from "../state/terms";

export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly activity: Activity;
}

/** A problem that prevents work, and the command that helps. */
export interface Banner {
  readonly severity: Severity;
  readonly text: string;
  readonly fix?: { readonly command: string; readonly title: string };
}

/** Everything around the conversation. */
export interface Shell {
  readonly server: "off" | "starting" | "ready" | "failed";
  readonly banner?: Banner;
  readonly tabs: readonly Tab[];
  readonly active: string;
  readonly hasFolder: boolean;
  readonly isTrusted: boolean;
  readonly takesImages: boolean;
  /** Whether the agent can transcribe recordings, and the page can record. */
  readonly takesSpeech: boolean;
  readonly canFork: boolean;
  readonly canRename: boolean;
  readonly judgesHunks: boolean;
  readonly canSearch: boolean;
  /** Whether a message can join the running turn. */
  readonly canSteer: boolean;
  /** Whether a conversation can be rewound to before an earlier prompt. */
  readonly canRewind: boolean;
  /** The open folders. */
  readonly roots: readonly string[];
  /** Whether the panel is in an editor, where files can be mentioned and opened, and code inserted and run. */
  readonly isInEditor: boolean;
}

export interface PastSession {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly updatedAt: string;
}

/** A passage of an earlier session. `marks` are the positions of the search words: from, to. */
export interface Passage extends PastSession {
  readonly speaker: "user" | "agent" | "tool" | "title";
  readonly position: number;
  readonly text: string;
  readonly marks: readonly (readonly [from: number, to: number])[];
}

/** Something a prompt can mention. `token` is the text after the @. */
export interface Mention {
  readonly kind: "file" | "folder" | "symbol" | "selection" | "problems" | "changes" | "terminal" | "url" | "session";
  readonly token: string;
  readonly label: string;
  readonly detail: string;
  readonly uri?: string;
  readonly line?: number;
  /** Whether it is only the prefix of a mention of its kind, to be completed. */
  readonly isStart?: boolean;
  /** The text itself, of a file that was dropped and has no address. */
  readonly text?: string;
}

export type ContextKind = "file" | "selection";
/** The editor context, and whether it is attached to prompts. */
export type EditorContext = readonly { readonly mention: Mention; readonly isTaken: boolean }[];

export interface Picture {
  readonly mimeType: string;
  readonly data: string;
}

/** Drafts by session. */
export interface PanelDrafts {
  readonly drafts: Readonly<Record<string, string>>;
  readonly mentions: Readonly<Record<string, readonly Mention[]>>;
}
/** A draft's new state. Missing fields stay unchanged. */
export interface DraftNews {
  readonly sessionId: string;
  readonly text?: string;
  readonly mentions?: readonly Mention[];
}

export type ToView =
  | { readonly type: "shell"; readonly shell: Shell }
  | { readonly type: "session"; readonly session: Session }
  | { readonly type: "events"; readonly sessionId: string; readonly events: readonly SessionEvent[] }
  | {
      readonly type: "past";
      readonly sessions: readonly PastSession[];
      readonly cursor?: string;
      readonly isMore: boolean;
    }
  | { readonly type: "passages"; readonly query: string; readonly passages: readonly Passage[] }
  | { readonly type: "mentions"; readonly query: string; readonly mentions: readonly Mention[] }
  | { readonly type: "insert"; readonly mention: Mention }
  | { readonly type: "insertPicture"; readonly picture: Picture }
  /** The transcription for the prompt of a session; empty if there is none. */
  | { readonly type: "heard"; readonly sessionId: string; readonly text: string }
  | { readonly type: "context"; readonly context: EditorContext }
  | {
      readonly type: "refill";
      readonly text: string;
      readonly mentions: readonly Mention[];
      readonly pictures: readonly Picture[];
    }
  | { readonly type: "focus" }
  /** The drafts when the page was left, sent before anything else. */
  | ({ readonly type: "drafts" } & PanelDrafts)
  | { readonly type: "located"; readonly places: readonly string[] }
  | { readonly type: "showQuestion" }
  | { readonly type: "showPast" };

export type ToHost =
  | { readonly type: "ready" }
  | ({ readonly type: "draft" } & DraftNews)
  /** Somebody is about to write, and there is no session yet. */
  | { readonly type: "prepare" }
  | { readonly type: "focus"; readonly isFocused: boolean }
  | {
      readonly type: "prompt";
      readonly sessionId: string;
      readonly text: string;
      readonly mentions: readonly Mention[];
      readonly pictures: readonly Picture[];
    }
  | { readonly type: "cancel"; readonly sessionId: string }
  | {
      readonly type: "queue";
      readonly action: "send" | "remove" | "up" | "down";
      readonly sessionId: string;
      readonly id: string;
    }
  | { readonly type: "reword"; readonly sessionId: string; readonly id: string; readonly text: string }
  | {
      readonly type: "answer";
      /** The question that was on the screen when the user clicked. */
      readonly requestId: string;
      readonly option: string;
      readonly comment: string;
    }
  | {
      readonly type: "judge";
      readonly sessionId: string;
      readonly callId: string;
      readonly path: string;
      readonly hunk: number;
      readonly verdict: Verdict;
    }
  | { readonly type: "seen"; readonly requestId: string }
  | { readonly type: "reply"; readonly id: string; readonly content: Readonly<Record<string, unknown>> | null }
  | { readonly type: "option"; readonly sessionId: string; readonly option: string; readonly value: string | boolean }
  | { readonly type: "new" }
  | { readonly type: "select"; readonly sessionId: string }
  | { readonly type: "close"; readonly sessionId: string }
  | { readonly type: "listPast"; readonly cursor?: string }
  | { readonly type: "searchPast"; readonly query: string }
  | { readonly type: "openPast"; readonly sessionId: string; readonly cwd: string }
  | { readonly type: "fork" | "delete"; readonly sessionId: string; readonly cwd: string }
  | { readonly type: "rename"; readonly sessionId: string; readonly title: string }
  | { readonly type: "open"; readonly path: string; readonly line?: number }
  | { readonly type: "compare"; readonly sessionId: string; readonly callId: string; readonly path: string }
  | { readonly type: "browse"; readonly url: string }
  | { readonly type: "mentions"; readonly query: string }
  | { readonly type: "takeContext"; readonly kind: ContextKind; readonly isTaken: boolean }
  | { readonly type: "attach" }
  /** A recording for the prompt of a session, in base64. */
  | { readonly type: "speak"; readonly sessionId: string; readonly mimeType: string; readonly data: string }
  | { readonly type: "dropped"; readonly uris: readonly string[] }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "code"; readonly action: "insert" | "apply" | "run"; readonly text: string }
  | { readonly type: "rewind"; readonly sessionId: string; readonly itemId: string; readonly withFiles: boolean }
  | { readonly type: "undoRewind"; readonly sessionId: string }
  /** Places named by a text: a path, optionally with a line. */
  | { readonly type: "locate"; readonly places: readonly string[] }
  | { readonly type: "follow"; readonly place: string }
  | {
      readonly type: "checkpoint";
      readonly action: "undo" | "diff";
      readonly sessionId: string;
      readonly endId: string;
    }
  | { readonly type: "run"; readonly command: string };
