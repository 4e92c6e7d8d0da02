/**
 * Paths as people know them.
 *
 * Knows: the folders that are open. Does not know: files.
 */

import type { CallKind } from "../state/terms";

/** Say where a file is as people do: below the folder that is open, or below which of them. */
export function shortened(path: string, roots: readonly string[]): string {
  const root = innermostFirst(roots).find((each) => path === each || path.startsWith(`${each}/`));
  if (!root) return path;
  return path === root ? nameOf(root) : prefixOf(root, roots) + path.slice(root.length + 1);
}

/** Cut a path into the name of its file and the folder that it is in; what ends with a slash is named by its last folder. */
export function split(path: string): { readonly name: string; readonly folder: string } {
  const end = path.lastIndexOf("/", path.length - 2);
  return end <= 0 ? { name: path, folder: "" } : { name: path.slice(end + 1), folder: path.slice(0, end) };
}

/** Return what a call is called with its paths shortened; a command stays as it is run. */
export function readable({ title, kind }: { title: string; kind: CallKind }, roots: readonly string[]): string {
  if (kind === "execute") return title;
  return innermostFirst(roots).reduce((words, root) => withoutRoot(words, root, roots), title);
}

/** Shorten what lies below one folder, wherever it is named: folders may have blanks in their names. */
function withoutRoot(words: string, root: string, roots: readonly string[]): string {
  const named = root.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const places = new RegExp(`(^|[\\s"'\`(=])${named}(?:/|(?=$|[\\s"'\`),:;]))`, "g");
  return words.replace(places, (found: string, before: string) =>
    found.endsWith("/") ? before + prefixOf(root, roots) : before + nameOf(root),
  );
}

function innermostFirst(roots: readonly string[]): readonly string[] {
  return roots.filter((root) => root !== "/").sort((one, other) => other.length - one.length);
}

function nameOf(root: string): string {
  return root.slice(root.lastIndexOf("/") + 1);
}

/** Return what stands before a path below a folder: nothing where it is the only one. */
function prefixOf(root: string, roots: readonly string[]): string {
  return roots.length === 1 ? "" : `${nameOf(root)}/`;
}
