/**
 * What the panel's parts need of the program that they run in: VS Code, or a page in a browser.
 *
 * Knows: what is asked of the program. Does not know: which program it is.
 */

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

/** How everything stands, for those who show it outside of the panel. */
export interface Standing {
  readonly server: State;
  /** How many questions wait for the user. */
  readonly questions: number;
  readonly isWorking: boolean;
}

/** The folders that are open and whether they are trusted. */
export interface Surroundings {
  /** Whether they are an editor's. */
  readonly isEditor: boolean;
  roots(): readonly string[];
  isTrusted(): boolean;
  /** Have something done when one of them changes. */
  onChange(listener: () => void): Disposable;
  show(standing: Standing): void;
}

/** What leads out of the panel. */
export interface Exits {
  open(path: string, line?: number): Promise<void>;
  /** Open the file that a text names, if there is one. */
  follow(place: string): Promise<void>;
  /** Return which of the places that a text names are there. */
  located(places: readonly string[]): Promise<readonly string[]>;
  browse(url: string): Promise<void>;
  copy(text: string): Promise<void>;
  run(command: string): Promise<void>;
  compare(diff: FileDiff, title: string): Promise<void>;
  /** Do something with a block of code of an answer. */
  useCode(action: "insert" | "run", text: string): Promise<void>;
  /** Return the file that code is most likely meant for where it names none. */
  codeTarget(): string | undefined;
}

/** What puts something into the prompt. */
export interface Attachments {
  pick(answer: Answer): Promise<void>;
  drop(uris: readonly string[], answer: Answer): Promise<void>;
}

/** What the user is asked and shown about changes of files. */
export interface Dialogs {
  /** Ask a question that has to be answered before anything goes on; return whether the answer was the word. */
  confirm(question: string, word: string): Promise<boolean>;
  showDiffs(diffs: readonly FileDiff[], title: string): Promise<void>;
  /** Return what people call a file. */
  nameOf(path: string): string;
}

/** What a prompt can mention. */
export interface MentionReader {
  find(query: string): Promise<readonly Mention[]>;
  /** Return a mention as what the agent reads; undefined where there is nothing any more. */
  blockOf(mention: Mention): Promise<acp.ContentBlock | undefined>;
}

/** What the user looks at, which goes along with a prompt. */
export interface PromptContext {
  readonly shown: EditorContext;
  readonly taken: readonly Mention[];
  take(kind: ContextKind, isTaken: boolean): void;
}
