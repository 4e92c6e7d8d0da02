/**
 * One conversation as it stands.
 *
 * Knows: what is kept of a session. Does not know: how it came to be so (`reduce`).
 */

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
  /** Ids of the prompts under way, the running one first. */
  readonly turns: readonly string[];
  /** When the running turn began, in ms. */
  readonly beganAt?: number;
  /** What the time of the turn that ends next was spent on. */
  readonly spent?: TurnTimes;
  /** Whether the last step failed: its notice is about to come, or came and nothing was said since. */
  readonly failedStep: "" | "fresh" | "noticed";
  /** Messages that wait for the running turn to end. */
  readonly queue: readonly QueuedPrompt[];
  /** Sessions whose past this one has. */
  readonly sources: readonly string[];
  /** Set until something is said in a session that a rewind made. */
  readonly rewound?: Rewound;
  /** Whether the queue waits for its user: nothing of it is sent by itself. */
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

/** Return where an item is, -1 where it is not; what is asked for stands near the end. */
export function placeOf(session: Session, type: Item["type"], id: string): number {
  const { items } = session;
  // A loop, not a callback an item: what is new is looked for in all of a long conversation.
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

/** Count what waits for the user's answer. */
export function openQuestions(session: Session): number {
  let open = 0;
  for (const _ of questionsOf(session)) open += 1;
  return open;
}

/** Return what was asked last of what waits for the user's answer. */
export function openQuestion(session: Session): Asking | undefined {
  return questionsOf(session).next().value ?? undefined;
}

/** Return where that is which waits for the user's answer, the first one first. */
export function openPlaces(session: Session): readonly number[] {
  return [...questionsOf(session)].map((item) => placeOf(session, item.type, item.id)).reverse();
}

/** Go through what waits, the last first. Only the tail is looked at: nothing of a turn that is over still waits. */
function* questionsOf({ items }: Session): Generator<Asking, undefined> {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.type === "end") break;
    if (item?.type === "call" && item.approval && item.approval.answer === undefined) yield item;
    if (item?.type === "question" && item.answer === undefined) yield item;
  }
  return undefined;
}

/** Return what to call the session in lists: its title, else the beginning of its first prompt. */
export function nameOf(session: Session): string {
  if (session.title) return session.title;
  const first = session.items.find((item) => item.type === "user");
  const words = first?.type === "user" ? first.text.trim().split("\n")[0] : "";
  return words ? words.slice(0, 60) : NEW_SESSION;
}
