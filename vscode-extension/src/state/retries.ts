/**
 * Steps that failed and are tried again: of all attempts one answer and one notice stay.
 *
 * Knows: what a failed step said, and which notice is about it. Does not know: why it failed.
 */

import type { SessionEvent } from "./events";
import type { Session } from "./session";
import type { Item, NoticeItem } from "./terms";

/** Mark what a step said that is tried again; it stays in sight until the next attempt says something. */
export function failStep(session: Session, event: Extract<SessionEvent, { type: "stepFailed" }>): Session {
  if (!event.isRetried) return session;
  const items = session.items.map((item) => (isSaidBy(item, event.messageId) ? { ...item, isVoid: true } : item));
  return { ...session, items, failedStep: "fresh" };
}

function isSaidBy(item: Item, id: string): boolean {
  return (item.type === "agent" || item.type === "thought") && (item.id === id || item.id.startsWith(`${id}+`));
}

/** Take out what failed steps said, as the next attempt says something now. */
export function withoutFailed(session: Session): Session {
  if (!session.failedStep) return session;
  return { ...session, items: session.items.filter((item) => !isVoid(item)), failedStep: "" };
}

function isVoid(item: Item): boolean {
  return (item.type === "agent" || item.type === "thought") && item.isVoid === true;
}

/** Add the notice about a failed step in place of the one about the attempt before. */
export function putRetryNotice(session: Session, notice: NoticeItem): Session {
  let at = session.items.length - 1;
  for (let item = session.items[at]; item && isVoid(item); item = session.items[at]) at -= 1;
  const before = session.items[at];
  const items = before?.type === "notice" && before.isRetry ? session.items.toSpliced(at, 1) : session.items;
  return { ...session, items: [...items, { ...notice, isRetry: true }], failedStep: "noticed" };
}
