/** Messages that wait for the running turn to end, in the order in which they will be sent. */

import type { SessionEvent } from "./events";
import type { Session } from "./session";

export type QueueEvent = Extract<SessionEvent, { type: "queued" | "unqueued" | "reworded" | "moved" | "released" }>;

/** Endings after which nothing is sent automatically: the user stopped the turn, or it failed. */
const HOLDING: ReadonlySet<string> = new Set(["cancelled", "failed", "lost", "refusal"]);

export function changeQueue(session: Session, event: QueueEvent): Session {
  const { queue } = session;
  switch (event.type) {
    case "queued":
      return { ...session, queue: [...queue, event.prompt], isHeld: false };
    case "unqueued": {
      const rest = queue.filter(({ id }) => id !== event.id);
      return { ...session, queue: rest, isHeld: session.isHeld && rest.length > 0 };
    }
    case "reworded":
      return {
        ...session,
        queue: queue.map((each) => (each.id === event.id ? { ...each, text: event.text } : each)),
      };
    case "moved": {
      const from = queue.findIndex(({ id }) => id === event.id);
      const to = from + event.by;
      const prompt = queue[from];
      if (!prompt || to < 0 || to >= queue.length) return session;
      return { ...session, queue: queue.toSpliced(from, 1).toSpliced(to, 0, prompt) };
    }
    case "released":
      return { ...session, isHeld: false };
  }
}

/** Hold the queue after a turn that did not end normally. */
export function holdAfter(session: Session, reason: string): Session {
  return session.queue.length > 0 && HOLDING.has(reason) ? { ...session, isHeld: true } : session;
}
