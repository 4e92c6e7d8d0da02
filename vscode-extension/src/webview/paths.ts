/** Paths for display. */

import type { CallKind } from "../state/terms";

/** Shorten a path relative to the open folder, or name which of several folders contains it. */
export function shortened(path: string, roots: readonly string[]): string {
  const root = innermostFirst(roots).find((each) => path === each || path.startsWith(`${each}/`));
  if (!root) return path;
  return path === root ? nameOf(root) : prefixOf(root, roots) + path.slice(root.length + 1);
}

/** Split a path into its file name and folder. A path that ends with a slash is named by its last folder. */
export function split(path: string): { readonly name: string; readonly folder: string } {
  const end = path.lastIndexOf("/", path.length - 2);
  return end <= 0 ? { name: path, folder: "" } : { name: path.slice(end + 1), folder: path.slice(0, end) };
}

/** Return a call's title with shortened paths. Commands stay unchanged. */
export function readable({ title, kind }: { title: string; kind: CallKind }, roots: readonly string[]): string {
  if (kind === "execute") return title;
  return innermostFirst(roots).reduce((words, root) => withoutRoot(words, root, roots), title);
}

/** Shorten paths below a folder wherever they occur. Folder names may contain spaces. */
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

/** Return the prefix of paths below a folder, empty if it is the only one. */
function prefixOf(root: string, roots: readonly string[]): string {
  return roots.length === 1 ? "" : `${nameOf(root)}/`;
}
