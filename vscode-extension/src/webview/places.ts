/**
 * Which of the files that texts name are there.
 *
 * Knows: what was asked of the host, a batch at a time. Does not know: files, who draws the links.
 */

import { post } from "./bridge";

const waiting = new Map<string, Set<() => void>>();
const found = new Set<string>();
let isScheduled = false;
let fresh = new Set<string>();

/** Have something done as soon as it is known that a file is there; call the answer to drop that. */
export function locate(place: string, onFound: () => void): () => void {
  if (found.has(place)) {
    onFound();
    return () => undefined;
  }
  const listeners = waiting.get(place) ?? new Set();
  waiting.set(place, listeners.add(onFound));
  fresh.add(place);
  if (!isScheduled) queueMicrotask(ask);
  isScheduled = true;
  return () => listeners.delete(onFound);
}

function ask(): void {
  isScheduled = false;
  post({ type: "locate", places: [...fresh] });
  fresh = new Set();
}

/** Take the host's answer; what is not there may be there when it is named again. */
export function takeLocated(places: readonly string[]): void {
  for (const place of places) {
    found.add(place);
    for (const onFound of waiting.get(place) ?? []) onFound();
    waiting.delete(place);
  }
}
