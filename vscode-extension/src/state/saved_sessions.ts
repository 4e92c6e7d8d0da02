/**
 * State that survives a window reload: the open sessions, their appearance, and the shown one.
 *
 * A running turn does not survive.
 */

import { WINDOW_RELOADED } from "../messages/conversation";
import { emptySession, type Session } from "./session";
import { reduce } from "./reduce";

export interface SavedSessions {
  readonly active: string;
  readonly sessions: readonly Session[];
}

const MAX_ITEMS = 300;
const MAX_TEXT = 100_000;

/** Return a bounded part of the sessions to store. The server has the rest. */
export function saveSessions(active: string, sessions: readonly Session[]): SavedSessions {
  return { active, sessions: sessions.map(trimmed) };
}

function trimmed(session: Session): Session {
  const items = session.items.slice(-MAX_ITEMS).map((item) => {
    if (item.type === "user") return { ...item, attachments: item.attachments.filter((each) => each.kind !== "image") };
    if (item.type !== "call") return item;
    const content = item.content.filter((each) => JSON.stringify(each).length < MAX_TEXT);
    return { ...item, content };
  });
  return { ...session, items, terminals: {} };
}

/** Return sessions after a reload, with running work marked as ended. */
export function restoreSessions(kept: SavedSessions | undefined): SavedSessions {
  const sessions = (kept?.sessions ?? []).map((session): Session => {
    const whole = { ...emptySession(session.id, session.cwd), ...session };
    if (whole.turns.length === 0) return whole;
    return reduce(whole, { type: "lost", id: `lost-${whole.items.length}`, text: WINDOW_RELOADED });
  });
  return { active: kept?.active ?? "", sessions };
}
