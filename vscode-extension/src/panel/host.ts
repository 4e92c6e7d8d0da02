/** The panel's port to its host: VS Code, or a page in a browser. */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import type { State } from "../server/state";
import type { FileDiff } from "../state/terms";
import type { ContextKind, EditorContext, Mention, ToView } from "./protocol";

export type Answer = (message: ToView) => void;

export interface Disposable {
  dispose(): void;
}

/** Values that outlive the panel. */
export interface KeptValues {
  get<T>(key: string): T | undefined;
  set(key: string, value: unknown): void;
}

/** The overall status, for display outside the panel. */
export interface Standing {
  readonly server: State;
  /** The number of questions that wait for the user. */
  readonly questions: number;
  readonly isWorking: boolean;
}

/** The folders that are open and whether they are trusted. */
export interface Surroundings {
  /** Whether they are an editor's. */
  readonly isEditor: boolean;
  roots(): readonly string[];
  isTrusted(): boolean;
  /** Call a listener when one of them changes. */
  onChange(listener: () => void): Disposable;
  show(standing: Standing): void;
}

/** Actions that lead out of the panel. */
export interface Exits {
  open(path: string, line?: number): Promise<void>;
  /** Open the file named by a text, if it exists. */
  follow(place: string): Promise<void>;
  /** Return which of the places named by a text exist. */
  located(places: readonly string[]): Promise<readonly string[]>;
  browse(url: string): Promise<void>;
  copy(text: string): Promise<void>;
  run(command: string): Promise<void>;
  compare(diff: FileDiff, title: string): Promise<void>;
  /** Perform an action on a code block in an answer. */
  useCode(action: "insert" | "run", text: string): Promise<void>;
  /** Return the most likely target file of code that names none. */
  codeTarget(): string | undefined;
}

/** Adds content to the prompt. */
export interface Attachments {
  pick(answer: Answer): Promise<void>;
  drop(uris: readonly string[], answer: Answer): Promise<void>;
}

/** Transcribes recordings. */
export interface Transcription {
  /** Return the transcription of a recording in base64. */
  transcribe(mimeType: string, data: string): Promise<string>;
}

/** Dialogs about file changes. */
export interface Dialogs {
  /** Ask a modal question, and return whether the user confirmed. */
  confirm(question: string, word: string): Promise<boolean>;
  showDiffs(diffs: readonly FileDiff[], title: string): Promise<void>;
  /** Return a file's display name. */
  nameOf(path: string): string;
}

/** Reads mentions for a prompt. */
export interface MentionReader {
  find(query: string): Promise<readonly Mention[]>;
  /** Convert a mention to content for the agent, or return undefined if it no longer exists. */
  blockOf(mention: Mention): Promise<acp.ContentBlock | undefined>;
}

/** The editor context attached to a prompt. */
export interface PromptContext {
  readonly shown: EditorContext;
  readonly taken: readonly Mention[];
  take(kind: ContextKind, isTaken: boolean): void;
}
