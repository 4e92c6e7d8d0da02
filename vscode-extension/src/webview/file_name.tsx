/** A path in one line: the file's name first, because people look for it, then as much of its folder as fits. */

import type { CallItem } from "../state/terms";
import { readable, shortened, split } from "./paths";

export function FileName({ path, roots, line }: { path: string; roots: readonly string[]; line?: number | undefined }) {
  const { name, folder } = split(shortened(path, roots));
  return (
    <>
      <span class="file-name">{line ? `${name}:${line}` : name}</span>
      {folder && <span class="file-folder">{folder}</span>}
    </>
  );
}

type Titled = Pick<CallItem, "title" | "kind" | "places" | "content">;

/** A call's title, with the file's name before the rest of the path. */
export function Title({ item, roots }: { item: Titled; roots: readonly string[] }) {
  const words = readable(item, roots);
  const paths = item.content.flatMap((each) => (each.type === "diff" ? [each.diff.path] : []));
  const shown = [...paths, ...item.places.map(({ path }) => path)].map((path) => shortened(path, roots));
  const path = item.kind === "execute" ? undefined : shown.find((each) => each.includes("/") && words.includes(each));
  if (!path) return <span class="file-name">{words}</span>;
  const { name, folder } = split(path);
  return (
    <>
      <span class="file-name">{words.replace(path, () => name)}</span>
      <span class="file-folder">{folder}</span>
    </>
  );
}
