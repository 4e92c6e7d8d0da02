/**
 * What the page shows, folded from what the host says, at most once a frame.
 *
 * Knows: messages of the host. Does not know: how anything is drawn.
 */

import type { EditorContext, Mention, Passage, PastSession, Picture, Shell, ToView } from "../panel/protocol";
import { reduce } from "../state/reduce";
import type { Session } from "../state/session";

/** What is put into the prompt from elsewhere. */
export interface Inserted {
  readonly mention?: Mention;
  readonly picture?: Picture;
}
/** So many may come within a frame. */
const MAX_INSERTED = 20;

export interface Model {
  readonly shell: Shell | undefined;
  readonly sessions: Readonly<Record<string, Session>>;
  readonly past: readonly PastSession[];
  readonly pastCursor: string | undefined;
  readonly isPastShown: boolean;
  /** What was found in past sessions, and by which words. */
  readonly passages: { readonly query: string; readonly found: readonly Passage[] };
  readonly found: { readonly query: string; readonly mentions: readonly Mention[] };
  /** What was put into the prompt from elsewhere: the latest of it, and how much it was in all. */
  readonly inserted: { readonly count: number; readonly latest: readonly Inserted[] };
  /** What the user looks at. */
  readonly context: EditorContext;
  /** A prompt that could not be sent, given back. */
  readonly refill: Pick<Extract<ToView, { type: "refill" }>, "text" | "mentions" | "pictures"> & {
    readonly count: number;
  };
  readonly focused: number;
  /** How often somebody wanted to see the open question. */
  readonly toQuestion: number;
}

export const EMPTY: Model = {
  shell: undefined,
  sessions: {},
  past: [],
  pastCursor: undefined,
  isPastShown: false,
  passages: { query: "", found: [] },
  found: { query: "", mentions: [] },
  inserted: { count: 0, latest: [] },
  context: [],
  refill: { count: 0, text: "", mentions: [], pictures: [] },
  focused: 0,
  toQuestion: 0,
};

function withInserted({ inserted }: Model, one: Inserted): Model["inserted"] {
  return { count: inserted.count + 1, latest: [...inserted.latest, one].slice(-MAX_INSERTED) };
}

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
    case "located":
    case "drafts":
      return model;
    case "mentions":
      return { ...model, found: { query: message.query, mentions: message.mentions } };
    case "insert":
      return { ...model, isPastShown: false, inserted: withInserted(model, { mention: message.mention }) };
    case "insertPicture":
      return { ...model, isPastShown: false, inserted: withInserted(model, { picture: message.picture }) };
    case "context":
      return { ...model, context: message.context };
    case "refill":
      return {
        ...model,
        refill: { ...message, count: model.refill.count + 1 },
      };
    case "focus":
      return { ...model, focused: model.focused + 1 };
    case "showQuestion":
      return { ...model, isPastShown: false, toQuestion: model.toQuestion + 1 };
    case "showPast":
      return { ...model, isPastShown: true };
  }
}

/** So many times as long as painting took the page rests: three quarters of the time are left for whoever types and scrolls. */
const REST = 3;
const MAX_REST_MS = 100;
/** A page that is not seen gets no frames, and has to be right when it is seen again. */
const UNSEEN_MS = 100;

/**
 * Fold messages as they come and show the outcome once a frame; where painting takes long, on a slow machine or in a flood of
 * news, less often. What is no part of that flood is shown in the next frame.
 */
export class Screen {
  private model = EMPTY;
  private isScheduled = false;
  private restUntil = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly behindFrame = new MessageChannel();
  private began = 0;

  constructor(private readonly draw: (model: Model) => void) {
    this.behindFrame.port1.onmessage = () => this.rest();
  }

  take(message: ToView): void {
    if (message.type !== "events") this.restUntil = 0;
    this.change((model) => fold(model, message));
  }

  change(make: (model: Model) => Model): void {
    this.model = make(this.model);
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.awaitFrame();
    this.timer = setTimeout(() => this.paint(), UNSEEN_MS + MAX_REST_MS);
  }

  private awaitFrame(): void {
    requestAnimationFrame((now) => {
      if (!this.isScheduled) return;
      if (now < this.restUntil) this.awaitFrame();
      else this.paint();
    });
  }

  private paint(): void {
    clearTimeout(this.timer);
    this.isScheduled = false;
    this.began = performance.now();
    this.draw(this.model);
    // It comes when the frame is laid out and painted: all of that is what the drawing has cost.
    this.behindFrame.port2.postMessage(undefined);
  }

  private rest(): void {
    const now = performance.now();
    this.restUntil = now + Math.min(MAX_REST_MS, REST * (now - this.began));
  }
}
