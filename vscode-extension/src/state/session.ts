/** The state of one conversation. */

import { NEW_SESSION } from "../messages/panel";
import type {
  Item,
  Option,
  PlanEntry,
  QueuedPrompt,
  Rewound,
  SlashCommand,
  TerminalState,
  TurnTimes,
  Usage,
} from "./terms";

/** What the agent is doing; "asking" waits for the user. */
export type Activity = "idle" | "working" | "asking";

export interface Session {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly items: readonly Item[];
  readonly terminals: Readonly<Record<string, TerminalState>>;
  readonly plan: readonly PlanEntry[];
  readonly commands: readonly SlashCommand[];
  readonly options: readonly Option[];
  readonly usage?: Usage;
  /** IDs of unfinished prompts, the running one first. */
  readonly turns: readonly string[];
  /** When the running turn started, in ms. */
  readonly beganAt?: number;
  /** How the turn that ends next spent its time. */
  readonly spent?: TurnTimes;
  /** Whether the last step failed: its notice is pending, or was shown without any text since. */
  readonly failedStep: "" | "fresh" | "noticed";
  /** Messages that wait for the running turn to end. */
  readonly queue: readonly QueuedPrompt[];
  /** Sessions whose history this one includes. */
  readonly sources: readonly string[];
  /** Set until the first message in a session created by a rewind. */
  readonly rewound?: Rewound;
  /** Whether the queue is held, so that nothing is sent automatically. */
  readonly isHeld: boolean;
}

export function emptySession(id: string, cwd: string): Session {
  return {
    id,
    cwd,
    title: "",
    items: [],
    terminals: {},
    plan: [],
    commands: [],
    options: [],
    turns: [],
    failedStep: "",
    queue: [],
    isHeld: false,
    sources: [],
  };
}

type ItemOf<T extends Item["type"]> = Extract<Item, { type: T }>;

/** Return an item's index, or -1. Requested items are usually near the end. */
export function placeOf(session: Session, type: Item["type"], id: string): number {
  const { items } = session;
  // A loop instead of a callback per item, because new items are searched in a long conversation.
  let at = items.length - 1;
  while (at >= 0 && (items[at]?.id !== id || items[at]?.type !== type)) at -= 1;
  return at;
}

export function findItem<T extends Item["type"]>(session: Session, type: T, id: string): ItemOf<T> | undefined {
  return session.items[placeOf(session, type, id)] as ItemOf<T> | undefined;
}

export function activityOf(session: Session): Activity {
  if (openQuestions(session) > 0) return "asking";
  return session.turns.length > 0 ? "working" : "idle";
}

type Asking = ItemOf<"call"> | ItemOf<"question">;

/** Count the open questions. */
export function openQuestions(session: Session): number {
  let open = 0;
  for (const _ of questionsOf(session)) open += 1;
  return open;
}

/** Return the latest open question. */
export function openQuestion(session: Session): Asking | undefined {
  return questionsOf(session).next().value ?? undefined;
}

/** Return the indexes of open questions, first one first. */
export function openPlaces(session: Session): readonly number[] {
  return [...questionsOf(session)].map((item) => placeOf(session, item.type, item.id)).reverse();
}

/** Iterate over open questions, last first. Only the tail is searched, because finished turns have none. */
function* questionsOf({ items }: Session): Generator<Asking, undefined> {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.type === "end") break;
    if (item?.type === "call" && item.approval && item.approval.answer === undefined) yield item;
    if (item?.type === "question" && item.answer === undefined) yield item;
  }
  return undefined;
}

/** Return the session's name for lists: its title, or else the start of its first prompt. */
export function nameOf(session: Session): string {
  if (session.title) return session.title;
  const first = session.items.find((item) => item.type === "user");
  const words = first?.type === "user" ? first.text.trim().split("\n")[0] : "";
  return words ? words.slice(0, 60) : NEW_SESSION;
}
