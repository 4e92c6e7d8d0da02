/** The views that show the panel, wherever they are. Each first gets the whole state, then the events. */

import type { SessionEvent } from "../state/events";
import { Outbox } from "../state/outbox";
import type { ToView } from "./protocol";

export type Reader = (message: ToView) => void;

export class Audience {
  private readonly readers = new Set<Reader>();
  private readonly outbox = new Outbox((sessionId, events) => this.say({ type: "events", sessionId, events }));
  private unsent: ToView[] = [];

  /** Add a reader who gets the whole state next. Earlier events are part of it and are not repeated. */
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

  /** Post a message to all readers, after the waiting events. */
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
