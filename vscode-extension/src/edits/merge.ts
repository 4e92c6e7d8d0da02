/** Merge two changes of one text that do not touch the same lines. */

import { hunksOf, textWith, type Hunk } from "./hunks";

/** Return `base` with both changes applied, or undefined if they conflict. */
export function merge(base: string, one: string, other: string): string | undefined {
  const [ours, theirs] = [hunksOf(base, one), hunksOf(base, other)];
  const added = theirs.filter((hunk) => !ours.some((each) => isSame(each, hunk)));
  if (added.some((hunk) => ours.some((each) => contradicts(each, hunk)))) return undefined;
  const all = [...ours, ...added].sort(byPlace);
  return textWith(base, all, [], "accepted");
}

const endOf = (hunk: Hunk): number => hunk.oldStart + hunk.oldLines.length;

function isSame(one: Hunk, other: Hunk): boolean {
  return (
    one.oldStart === other.oldStart &&
    one.oldLines.length === other.oldLines.length &&
    one.newLines.join("\n") === other.newLines.join("\n")
  );
}

function contradicts(one: Hunk, other: Hunk): boolean {
  const bothInsertHere = one.oldStart === other.oldStart && one.oldLines.length === 0 && other.oldLines.length === 0;
  return bothInsertHere || (one.oldStart < endOf(other) && other.oldStart < endOf(one));
}

/** Inserted lines come before lines replaced at the same place. */
function byPlace(one: Hunk, other: Hunk): number {
  return one.oldStart - other.oldStart || one.oldLines.length - other.oldLines.length;
}
