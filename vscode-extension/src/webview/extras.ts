/** Mentions and pictures of drafts, by session. */

import type { Mention, Picture } from "../panel/protocol";

export interface Extras {
  readonly mentions: readonly Mention[];
  readonly pictures: readonly Picture[];
}
export type AllExtras = Readonly<Record<string, Extras>>;

export const NOTHING: Extras = { mentions: [], pictures: [] };

/** Restore extras from stored mentions. */
export function extrasFrom(kept: Readonly<Record<string, readonly Mention[]>>): AllExtras {
  return Object.fromEntries(Object.entries(kept).map(([id, mentions]) => [id, { mentions, pictures: [] }]));
}

/** Return the mentions to store. Pictures are too large. */
export function mentionsIn(all: AllExtras): Readonly<Record<string, readonly Mention[]>> {
  const kept = Object.entries(all).filter(([, { mentions }]) => mentions.length > 0);
  return Object.fromEntries(kept.map(([id, { mentions }]) => [id, mentions]));
}

/** Move extras from before there was a session to a session without any. */
export function handOver(all: AllExtras, id: string): AllExtras {
  const { "": early, ...others } = all;
  if (!id || !early || isSomething(all[id])) return all;
  return { ...others, [id]: early };
}

function isSomething(extras: Extras | undefined): boolean {
  return extras !== undefined && extras.mentions.length + extras.pictures.length > 0;
}
