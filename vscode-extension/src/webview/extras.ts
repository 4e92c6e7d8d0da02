/**
 * What comes with drafts besides their words, by session: mentions and pictures.
 *
 * Knows: whose they are, and which of them outlive a reload of the page. Does not know: where they are kept.
 */

import type { Mention, Picture } from "../panel/protocol";

export interface Extras {
  readonly mentions: readonly Mention[];
  readonly pictures: readonly Picture[];
}
export type AllExtras = Readonly<Record<string, Extras>>;

export const NOTHING: Extras = { mentions: [], pictures: [] };

/** Return what was kept of mentions as extras. */
export function extrasFrom(kept: Readonly<Record<string, readonly Mention[]>>): AllExtras {
  return Object.fromEntries(Object.entries(kept).map(([id, mentions]) => [id, { mentions, pictures: [] }]));
}

/** Return what is worth keeping; pictures are too large for that. */
export function mentionsIn(all: AllExtras): Readonly<Record<string, readonly Mention[]>> {
  const kept = Object.entries(all).filter(([, { mentions }]) => mentions.length > 0);
  return Object.fromEntries(kept.map(([id, { mentions }]) => [id, mentions]));
}

/** Give what was there before there was any session to one that has nothing of its own. */
export function handOver(all: AllExtras, id: string): AllExtras {
  const { "": early, ...others } = all;
  if (!id || !early || isSomething(all[id])) return all;
  return { ...others, [id]: early };
}

function isSomething(extras: Extras | undefined): boolean {
  return extras !== undefined && extras.mentions.length + extras.pictures.length > 0;
}
