/** The page's host: an editor around it, or the other half of the same page in a browser. */

import type { Mention, ToHost, ToView } from "../panel/protocol";
import type { Drafts } from "./drafts";

/** Mentions of drafts, by session. */
export type KeptMentions = Readonly<Record<string, readonly Mention[]>>;

/** State that the page itself stores across a reload. */
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
