/** The page's model, folded from the host's messages at most once per frame. */

import type { EditorContext, Mention, Passage, PastSession, Picture, Shell, ToView } from "../panel/protocol";
import { reduce } from "../state/reduce";
import type { Session } from "../state/session";

/** Content inserted into the prompt from elsewhere. */
export interface Inserted {
  readonly mention?: Mention;
  readonly picture?: Picture;
  /** Transcribed speech for the prompt of a session. */
  readonly heard?: { readonly sessionId: string; readonly text: string };
}
/** The maximum number within a frame. */
const MAX_INSERTED = 20;

export interface Model {
  readonly shell: Shell | undefined;
  readonly sessions: Readonly<Record<string, Session>>;
  readonly past: readonly PastSession[];
  readonly pastCursor: string | undefined;
  readonly isPastShown: boolean;
  /** The search results in earlier sessions, and the query. */
  readonly passages: { readonly query: string; readonly found: readonly Passage[] };
  readonly found: { readonly query: string; readonly mentions: readonly Mention[] };
  /** Content inserted into the prompt from elsewhere: the latest items, and the total number. */
  readonly inserted: { readonly count: number; readonly latest: readonly Inserted[] };
  /** The editor context. */
  readonly context: EditorContext;
  /** A prompt that could not be sent, to restore it. */
  readonly refill: Pick<Extract<ToView, { type: "refill" }>, "text" | "mentions" | "pictures"> & {
    readonly count: number;
  };
  readonly focused: number;
  /** How often the user asked to see the open question. */
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
    case "heard":
      return { ...model, inserted: withInserted(model, { heard: message }) };
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

/**
 * The page rests this many times as long as painting took, which leaves three quarters of the time for typing and
 * scrolling.
 */
const REST = 3;
const MAX_REST_MS = 100;
/** A hidden page gets no frames, but must be up to date when it is shown again. */
const UNSEEN_MS = 100;

/**
 * Fold messages as they arrive and show the result once per frame, or less often if painting is slow. Messages outside
 * a flood of events are shown in the next frame.
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
    // This arrives after layout and paint, so it measures the whole cost of drawing.
    this.behindFrame.port2.postMessage(undefined);
  }

  private rest(): void {
    const now = performance.now();
    this.restUntil = now + Math.min(MAX_REST_MS, REST * (now - this.began));
  }
}
