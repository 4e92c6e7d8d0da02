/**
 * The readers of the panel, in whatever place: each first gets the whole state, then what happens.
 *
 * Knows: who is there, what is still on its way to them. Does not know: webviews, what the messages mean.
 */

import type { SessionEvent } from "../state/events";
import { Outbox } from "../state/outbox";
import type { ToView } from "./protocol";

export type Reader = (message: ToView) => void;

export class Audience {
  private readonly readers = new Set<Reader>();
  private readonly outbox = new Outbox((sessionId, events) => this.say({ type: "events", sessionId, events }));
  private unsent: ToView[] = [];

  /** Take in a reader who is shown everything next: what happened until now is in that, and is not told to it again. */
  admit(reader: Reader): void {
    this.outbox.flush();
    this.readers.add(reader);
    const unsent = this.unsent;
    this.unsent = [];
    setTimeout(() => unsent.forEach((message) => reader(message)), 0);
  }

  dismiss(reader: Reader): void {
    this.readers.delete(reader);
  }

  /** Say something to everybody, behind the events that are still waiting. */
  post(message: ToView): void {
    this.outbox.flush();
    this.say(message);
  }

  /** Post a message that must arrive: if nobody reads yet, the first reader gets it. */
  postSurely(message: ToView): void {
    if (this.readers.size > 0) this.post(message);
    else this.unsent.push(message);
  }

  postEvents(sessionId: string, events: readonly SessionEvent[]): void {
    if (this.readers.size > 0) this.outbox.put(sessionId, events);
  }

  private say(message: ToView): void {
    for (const reader of this.readers) reader(message);
  }
}
