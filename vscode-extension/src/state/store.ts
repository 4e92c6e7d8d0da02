/**
 * The one place in the host where sessions are kept.
 *
 * Knows: sessions by id, who listens. Does not know: the editor, the wire, the panel.
 */

import type { SessionEvent } from "./events";
import { reduce } from "./reduce";
import { emptySession, type Session } from "./session";

export type Listener = (sessionId: string, events: readonly SessionEvent[]) => void;

export class Store {
  private readonly sessions = new Map<string, Session>();
  private readonly listeners = new Set<Listener>();

  get(id: string): Session | undefined {
    return this.sessions.get(id);
  }

  all(): readonly Session[] {
    return [...this.sessions.values()];
  }

  /** Begin to keep a session; one that is kept already stays as it is. */
  open(id: string, cwd: string): Session {
    const session = this.sessions.get(id) ?? emptySession(id, cwd);
    this.sessions.set(id, session);
    return session;
  }

  forget(id: string): void {
    this.sessions.delete(id);
  }

  /** Fold events into a session, then tell everybody; events of a session that is not kept are dropped. */
  dispatch(id: string, ...events: readonly SessionEvent[]): void {
    const before = this.sessions.get(id);
    if (!before || events.length === 0) return;
    this.sessions.set(id, events.reduce(reduce, before));
    for (const listener of [...this.listeners]) listener(id, events);
  }

  /** Be told of events after they were folded; call the answer to hear no more. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
