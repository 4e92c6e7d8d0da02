/** Messages written while a turn runs. They can be changed, and are sent one by one when turns end. */

import type { SessionEvent } from "../state/events";
import type { Session } from "../state/session";
import type { Store } from "../state/store";
import type { QueuedPrompt } from "../state/terms";
import type { ToHost } from "./protocol";

/** The agent's option for messages during a turn, and the value that steers the turn with them. */
const DURING_TURN = "during_turn";
const STEER = "steer";

type Change = Extract<ToHost, { type: "queue" | "reword" }>;
/** Send a message. With `steers`, it joins the running turn. Rejects if it could not be sent. */
export type SendQueued = (sessionId: string, prompt: QueuedPrompt, steers: boolean) => Promise<void>;

export class PromptQueue {
  private count = 0;

  constructor(
    private readonly store: Store,
    private readonly send: SendQueued,
    private readonly onError: (error: unknown) => void,
  ) {
    store.listen((sessionId, events) => this.follow(sessionId, events));
  }

  /** Queue a message if a turn is running that it does not join, and return whether it was queued. */
  take(sessionId: string, { text, mentions, pictures }: Omit<QueuedPrompt, "id">): boolean {
    const session = this.store.get(sessionId);
    if (!session || session.turns.length === 0 || isSteered(session)) return false;
    this.count += 1;
    const id = `queued-${Date.now().toString(36)}-${this.count}`;
    this.store.dispatch(sessionId, { type: "queued", prompt: { id, text, mentions, pictures } });
    return true;
  }

  /** Apply the user's change to the queue. */
  change(message: Change): void {
    const { sessionId, id } = message;
    if (message.type === "reword") this.store.dispatch(sessionId, { type: "reworded", id, text: message.text });
    else if (message.action === "remove") this.store.dispatch(sessionId, { type: "unqueued", id });
    else if (message.action === "send") this.sendNow(sessionId, id);
    else this.store.dispatch(sessionId, { type: "moved", id, by: message.action === "up" ? -1 : 1 });
  }

  /** Send a message before the others, and release the queue. */
  private sendNow(sessionId: string, id: string): void {
    this.store.dispatch(sessionId, { type: "released" });
    this.post(sessionId, id);
  }

  private follow(sessionId: string, events: readonly SessionEvent[]): void {
    if (!events.some(({ type }) => type === "ended")) return;
    // After all other listeners, which must see the end first.
    queueMicrotask(() => {
      const session = this.store.get(sessionId);
      const next = session?.queue[0];
      if (session && next && session.turns.length === 0 && !session.isHeld) this.post(sessionId, next.id);
    });
  }

  private post(sessionId: string, id: string): void {
    const session = this.store.get(sessionId);
    const prompt = session?.queue.find((each) => each.id === id);
    if (!session || !prompt) return;
    this.store.dispatch(sessionId, { type: "unqueued", id });
    void this.send(sessionId, prompt, session.turns.length > 0).catch((error: unknown) => {
      this.store.dispatch(sessionId, { type: "queued", prompt });
      this.onError(error);
    });
  }
}

function isSteered({ options }: Session): boolean {
  return options.some((each) => each.id === DURING_TURN && each.type === "select" && each.value === STEER);
}
