/**
 * An edit that is still being written, as hunks of the text it is for.
 *
 * Knows: what of a change can be shown before all of it is there. Does not know: documents, who writes.
 */

import { hunksOf, linesOf, type Hunk } from "./hunks";

export interface Growing {
  /** The passage that gives way; without it the whole text does. */
  readonly oldText?: string;
  readonly newText: string;
  readonly isWhole: boolean;
}

/** Return the hunks; undefined where the passage is not there once, or nothing is to be seen yet. */
export function growingHunks(base: string, { oldText, newText, isWhole }: Growing): readonly Hunk[] | undefined {
  if (oldText !== undefined) {
    const at = base.indexOf(oldText);
    if (oldText === "" || at < 0 || base.includes(oldText, at + 1)) return undefined;
    return hunksOf(base, base.slice(0, at) + newText + base.slice(at + oldText.length));
  }
  if (isWhole) return hunksOf(base, newText);
  const written = linesOf(newText).slice(0, -1).join("\n");
  return written === "" ? undefined : withoutTheRest(hunksOf(base, written), linesOf(base).length);
}

/** What is not written again yet is not gone. */
function withoutTheRest(hunks: readonly Hunk[], lines: number): readonly Hunk[] {
  const last = hunks.at(-1);
  if (!last || last.oldStart + last.oldLines.length < lines) return hunks;
  return last.newLines.length > 0 ? [...hunks.slice(0, -1), { ...last, oldLines: [] }] : hunks.slice(0, -1);
}
