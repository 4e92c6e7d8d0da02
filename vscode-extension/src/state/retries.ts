/** Retried steps: of all attempts, only one answer and one notice remain. */

import type { SessionEvent } from "./events";
import type { Session } from "./session";
import type { Item, NoticeItem } from "./terms";

/** Mark the text of a step that is being retried. It stays visible until the next attempt produces text. */
export function failStep(session: Session, event: Extract<SessionEvent, { type: "stepFailed" }>): Session {
  if (!event.isRetried) return session;
  const items = session.items.map((item) => (isSaidBy(item, event.messageId) ? { ...item, isVoid: true } : item));
  return { ...session, items, failedStep: "fresh" };
}

function isSaidBy(item: Item, id: string): boolean {
  return (item.type === "agent" || item.type === "thought") && (item.id === id || item.id.startsWith(`${id}+`));
}

/** Remove the text of failed steps, because the next attempt now produces text. */
export function withoutFailed(session: Session): Session {
  if (!session.failedStep) return session;
  return { ...session, items: session.items.filter((item) => !isVoid(item)), failedStep: "" };
}

function isVoid(item: Item): boolean {
  return (item.type === "agent" || item.type === "thought") && item.isVoid === true;
}

/** Add the notice about a failed step, replacing the one about the previous attempt. */
export function putRetryNotice(session: Session, notice: NoticeItem): Session {
  let at = session.items.length - 1;
  for (let item = session.items[at]; item && isVoid(item); item = session.items[at]) at -= 1;
  const before = session.items[at];
  const items = before?.type === "notice" && before.isRetry ? session.items.toSpliced(at, 1) : session.items;
  return { ...session, items: [...items, { ...notice, isRetry: true }], failedStep: "noticed" };
}
