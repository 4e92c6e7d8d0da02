/** Find out which files named in texts exist. */

import { post } from "./bridge";

const waiting = new Map<string, Set<() => void>>();
const found = new Set<string>();
let isScheduled = false;
let fresh = new Set<string>();

/** Call a function once a file is known to exist. Call the result to cancel. */
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

/** Handle the host's response. A missing file may exist when it is named again. */
export function takeLocated(places: readonly string[]): void {
  for (const place of places) {
    found.add(place);
    for (const onFound of waiting.get(place) ?? []) onFound();
    waiting.delete(place);
  }
}
