/**
 * What the page shows, folded from what the host says, at most once a frame.
 *
 * Knows: messages of the host. Does not know: how anything is drawn.
 */

import type { Mention, Passage, PastSession, Shell, ToView } from "../panel/messages";
import { reduce } from "../state/reduce";
import type { Session } from "../state/session";

export interface Model {
  readonly shell: Shell | undefined;
  readonly sessions: Readonly<Record<string, Session>>;
  readonly past: readonly PastSession[];
  readonly pastCursor: string | undefined;
  readonly isPastShown: boolean;
  /** What was found in past sessions, and by which words. */
  readonly passages: { readonly query: string; readonly found: readonly Passage[] };
  readonly found: { readonly query: string; readonly mentions: readonly Mention[] };
  /** What was put into the prompt from elsewhere, counted so that the same thing can come twice. */
  readonly inserted: { readonly count: number; readonly mention: Mention | undefined };
  /** A prompt that could not be sent, given back. */
  readonly refill: { readonly count: number; readonly text: string; readonly mentions: readonly Mention[] };
  readonly focused: number;
}

export const EMPTY: Model = {
  shell: undefined,
  sessions: {},
  past: [],
  pastCursor: undefined,
  isPastShown: false,
  passages: { query: "", found: [] },
  found: { query: "", mentions: [] },
  inserted: { count: 0, mention: undefined },
  refill: { count: 0, text: "", mentions: [] },
  focused: 0,
};

export function fold(model: Model, message: ToView): Model {
  switch (message.type) {
    case "shell":
      return { ...model, shell: message.shell };
    case "session":
      return { ...model, sessions: { ...model.sessions, [message.session.id]: message.session } };
    case "events": {
      const before = model.sessions[message.sessionId];
      if (!before) return model;
      return { ...model, sessions: { ...model.sessions, [message.sessionId]: message.events.reduce(reduce, before) } };
    }
    case "past":
      return {
        ...model,
        past: message.isMore ? [...model.past, ...message.sessions] : message.sessions,
        pastCursor: message.cursor,
      };
    case "passages":
      return { ...model, passages: { query: message.query, found: message.passages } };
    case "mentions":
      return { ...model, found: { query: message.query, mentions: message.mentions } };
    case "insert":
      return { ...model, isPastShown: false, inserted: { count: model.inserted.count + 1, mention: message.mention } };
    case "refill":
      return {
        ...model,
        refill: { count: model.refill.count + 1, text: message.text, mentions: message.mentions },
      };
    case "focus":
      return { ...model, focused: model.focused + 1 };
    case "showPast":
      return { ...model, isPastShown: true };
  }
}

/** A frame that took longer than this was more than the page could paint in time. */
const LONG_MS = 25;

/**
 * Fold messages as they come and show the outcome once a frame; where painting takes longer than a frame lasts, less
 * often, so that half of the time is left for whoever types and scrolls.
 */
export class Screen {
  private model = EMPTY;
  private isScheduled = false;
  private restUntil = 0;

  constructor(private readonly draw: (model: Model) => void) {}

  take(message: ToView): void {
    this.change((model) => fold(model, message));
  }

  change(make: (model: Model) => Model): void {
    this.model = make(this.model);
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.awaitFrame();
    // A page that is not seen gets no frames, and has to be right when it is seen again.
    setTimeout(() => this.paint(), 100);
  }

  private awaitFrame(): void {
    requestAnimationFrame((now) => (now < this.restUntil ? this.awaitFrame() : this.paint()));
  }

  private paint(): void {
    if (!this.isScheduled) return;
    this.isScheduled = false;
    const began = performance.now();
    this.draw(this.model);
    requestAnimationFrame((now) => {
      const took = now - began;
      this.restUntil = took > LONG_MS ? now + took : 0;
    });
  }
}
