/** Requests in separate sessions, beside the shown conversation. */

import type { CancellationToken } from "vscode";

import type { Conversations } from "../acp/conversations";
import type { Mentions } from "../editor/mentions";
import type { Reviews } from "../edits/reviews";
import type { EndItem } from "../state/terms";
import type { Store } from "../state/store";
import { promptContent, type Extras } from "./prompt_content";

interface Parts {
  readonly store: Store;
  readonly conversations: Conversations;
  readonly reviews: Reviews;
  readonly mentions: Mentions;
}

interface Shown {
  readonly shown: string;
  select(sessionId: string): void;
}

export class ApartSessions {
  constructor(
    private readonly parts: Parts,
    private readonly front: Shown,
  ) {}

  /**
   * Run a prompt with the options of the shown session. The session is closed if it succeeded without anything to
   * review. Otherwise it stays open, and is shown if it failed.
   */
  async prompt(text: string, extras: Extras): Promise<void> {
    const { conversations, reviews, mentions } = this.parts;
    const id = await conversations.begin();
    await conversations.likeIn(id, this.front.shown);
    await conversations.prompt(id, await promptContent(mentions, text, extras));
    const reason = this.endOf(id)?.reason;
    if (reason === "failed") this.front.select(id);
    if (reason !== "end_turn" || this.front.shown === id) return;
    if (reviews.all().some(({ sessionId }) => sessionId === id)) return;
    await conversations.close(id);
    this.front.select(this.front.shown);
  }

  /** Ask for a text in a read-only session that is deleted afterwards. Resolves to undefined if the user stops it. */
  async ask(text: string, token: CancellationToken): Promise<string | undefined> {
    const { conversations, store, mentions } = this.parts;
    const id = await conversations.begin();
    const stop = token.onCancellationRequested(() => conversations.cancel(id));
    try {
      await conversations.onlyLook(id);
      if (!token.isCancellationRequested) await conversations.prompt(id, await promptContent(mentions, text, {}));
      if (token.isCancellationRequested) return undefined;
      const end = this.endOf(id);
      if (end?.reason === "failed") throw new Error(end.text);
      const items = store.get(id)?.items ?? [];
      return items.flatMap((item) => (item.type === "agent" ? [item.text] : [])).at(-1);
    } finally {
      stop.dispose();
      await conversations.delete(id).catch(() => undefined);
      this.front.select(this.front.shown);
    }
  }

  private endOf(id: string): EndItem | undefined {
    const end = this.parts.store.get(id)?.items.findLast(({ type }) => type === "end");
    return end?.type === "end" ? end : undefined;
  }
}
