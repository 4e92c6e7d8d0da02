/**
 * One conversation as it stands.
 *
 * Knows: what is kept of a session. Does not know: how it came to be so (`reduce`).
 */

import type { Item, Option, PlanEntry, SlashCommand, TerminalState, Usage } from "./terms";

/** What the agent is doing; "asking" waits for the user. */
export type Activity = "idle" | "working" | "asking";

export interface Session {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly items: readonly Item[];
  /** Where each item of `items` is, by its type and id. */
  readonly index: Readonly<Record<string, number>>;
  readonly terminals: Readonly<Record<string, TerminalState>>;
  readonly plan: readonly PlanEntry[];
  readonly commands: readonly SlashCommand[];
  readonly options: readonly Option[];
  readonly usage?: Usage;
  /** Ids of the prompts under way, the running one first. */
  readonly turns: readonly string[];
}

export function emptySession(id: string, cwd: string): Session {
  return {
    id,
    cwd,
    title: "",
    items: [],
    index: {},
    terminals: {},
    plan: [],
    commands: [],
    options: [],
    turns: [],
  };
}

export function activityOf(session: Session): Activity {
  if (openQuestions(session) > 0) return "asking";
  return session.turns.length > 0 ? "working" : "idle";
}

/** Count what waits for the user's answer. Only the tail is looked at: a turn's questions stand near its end. */
export function openQuestions(session: Session): number {
  let open = 0;
  for (let at = session.items.length - 1; at >= 0; at -= 1) {
    const item = session.items[at];
    if (item?.type === "end") break;
    if (item?.type === "call" && item.approval && item.approval.answer === undefined) open += 1;
    if (item?.type === "question" && item.answer === undefined) open += 1;
  }
  return open;
}

/** Give what to call the session in lists: its title, else the beginning of its first prompt. */
export function nameOf(session: Session): string {
  if (session.title) return session.title;
  const first = session.items.find((item) => item.type === "user");
  const words = first?.type === "user" ? first.text.trim().split("\n")[0] : "";
  return words ? words.slice(0, 60) : "New session";
}
