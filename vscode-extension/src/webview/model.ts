/**
 * What the page shows, folded from what the host says, at most once a frame.
 *
 * Knows: messages of the host. Does not know: how anything is drawn.
 */

import type { Mention, PastSession, Shell, ToView } from "../panel/messages";
import { reduce } from "../state/reduce";
import type { Session } from "../state/session";

export interface Model {
  readonly shell: Shell | undefined;
  readonly sessions: Readonly<Record<string, Session>>;
  readonly past: readonly PastSession[];
  readonly pastCursor: string | undefined;
  readonly isPastShown: boolean;
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

/** Fold messages as they come and show the outcome once a frame. */
export class Screen {
  private model = EMPTY;
  private isScheduled = false;

  constructor(private readonly draw: (model: Model) => void) {}

  take(message: ToView): void {
    this.change((model) => fold(model, message));
  }

  change(make: (model: Model) => Model): void {
    this.model = make(this.model);
    if (this.isScheduled) return;
    this.isScheduled = true;
    const paint = () => {
      if (!this.isScheduled) return;
      this.isScheduled = false;
      this.draw(this.model);
    };
    requestAnimationFrame(paint);
    // A page that is not seen gets no frames, and has to be right when it is seen again.
    setTimeout(paint, 100);
  }
}
