/**
 * Paths as people know them.
 *
 * Knows: the folders that are open. Does not know: files.
 */

import type { CallKind } from "../state/terms";

const PATH = /(^|[\s"'`(])(\/[^\s"'`),]+)/g;

/** Say where a file is as people do: below the folder that is open, or below which of them. */
export function shortened(path: string, roots: readonly string[]): string {
  const root = roots.find((each) => path === each || path.startsWith(`${each}/`));
  if (!root) return path;
  const isBelowTheOnly = roots.length === 1 && path !== root;
  return path.slice(isBelowTheOnly ? root.length + 1 : root.lastIndexOf("/") + 1);
}

/** Give what a call is called with its paths shortened; a command stays as it is run. */
export function readable({ title, kind }: { title: string; kind: CallKind }, roots: readonly string[]): string {
  if (kind === "execute" || kind === "other") return title;
  return title.replace(PATH, (_, before: string, path: string) => before + shortened(path, roots));
}
