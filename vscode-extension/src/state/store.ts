/** The host's only store of sessions. */

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

  /** Add a session, unless it is already in the store. */
  open(id: string, cwd: string): Session {
    const session = this.sessions.get(id) ?? emptySession(id, cwd);
    this.sessions.set(id, session);
    return session;
  }

  forget(id: string): void {
    this.sessions.delete(id);
  }

  /** Fold events into a session, then notify listeners. Events of unknown sessions are dropped. */
  dispatch(id: string, ...events: readonly SessionEvent[]): void {
    const before = this.sessions.get(id);
    if (!before || events.length === 0) return;
    this.sessions.set(id, events.reduce(reduce, before));
    for (const listener of [...this.listeners]) listener(id, events);
  }

  /** Listen for events after they were folded. Call the result to stop. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
