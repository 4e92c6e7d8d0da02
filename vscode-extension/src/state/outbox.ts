/** Events on their way to the panel, batched per frame. Consecutive text of one message is merged. */

import type { SessionEvent } from "./events";

export type Send = (sessionId: string, events: readonly SessionEvent[]) => void;

/** Sixty a second is what a screen shows. */
const FRAME_MS = 16;

export class Outbox {
  private readonly waiting = new Map<string, SessionEvent[]>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly send: Send) {}

  put(sessionId: string, events: readonly SessionEvent[]): void {
    const batch = this.waiting.get(sessionId) ?? [];
    this.waiting.set(sessionId, batch);
    for (const event of events) join(batch, event);
    this.timer ??= setTimeout(() => this.flush(), FRAME_MS);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batches = [...this.waiting];
    this.waiting.clear();
    for (const [sessionId, events] of batches) this.send(sessionId, events);
  }
}

/** Append an event to a batch, merging consecutive text of the same message. */
export function join(batch: SessionEvent[], event: SessionEvent): void {
  const last = batch.at(-1);
  if (event.type === "said" && last?.type === "said" && last.id === event.id && last.who === event.who) {
    batch[batch.length - 1] = { ...last, text: last.text + event.text };
  } else if (event.type === "output" && last?.type === "output" && last.terminalId === event.terminalId) {
    batch[batch.length - 1] = { ...last, text: last.text + event.text };
  } else {
    batch.push(event);
  }
}
