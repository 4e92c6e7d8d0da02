/** Find a file named by a text in the open folders. Only places inside the folders count. */

import { stat } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

export interface Found {
  readonly path: string;
  /** From 1, or undefined if none is named. */
  readonly line?: number;
}

const WITH_LINE = /^(.*?)(?::(\d+)(?:[:,-]\d+)?|#L(\d+)(?:-L?\d+)?)$/;
const MAX_LENGTH = 1000;

/** Return the possible places for a text, most likely first, below each open folder. */
export function readPlace(text: string, roots: readonly string[]): readonly Found[] {
  if (text.length > MAX_LENGTH || text.includes("\0")) return [];
  const named = WITH_LINE.exec(text);
  const line = Number(named?.[2] ?? named?.[3] ?? 0);
  const path = pathOf(named?.[1] ?? text);
  if (!path) return [];
  const paths = isAbsolute(path) ? [normalize(path)] : roots.map((root) => join(root, path));
  const inside = paths.filter((each) => roots.some((root) => each.startsWith(root.endsWith(sep) ? root : root + sep)));
  return inside.map((each) => ({ path: each, ...(line > 0 ? { line } : {}) }));
}

function pathOf(words: string): string | undefined {
  if (!/^file:/i.test(words)) return words;
  try {
    return fileURLToPath(words);
  } catch {
    return undefined;
  }
}

/** Return the file named by a text, or undefined if the open folders do not contain it. */
export async function findPlace(text: string, roots: readonly string[]): Promise<Found | undefined> {
  for (const place of readPlace(text, roots)) {
    const isFile = await stat(place.path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (isFile) return place;
  }
  return undefined;
}
