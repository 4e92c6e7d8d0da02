/**
 * Whoever the page talks to: an editor around it, or the other half of the same page in a browser.
 *
 * Knows: what both can do. Does not know: which one it is.
 */

import type { Mention, ToHost, ToView } from "../panel/protocol";
import type { Drafts } from "./drafts";

/** What drafts mention, by session. */
export type KeptMentions = Readonly<Record<string, readonly Mention[]>>;

/** What the page keeps for itself over a reload. */
export interface Kept {
  readonly drafts?: Drafts;
  readonly mentions?: KeptMentions;
}

export interface PageHost {
  post(message: ToHost): void;
  listen(listener: (message: ToView) => void): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}
