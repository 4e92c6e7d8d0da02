/** A partially written edit as hunks of its target text. */

import { hunksOf, linesOf, type Hunk } from "./hunks";

export interface Growing {
  /** The passage to replace; without it, the whole text is replaced. */
  readonly oldText?: string;
  readonly newText: string;
  readonly isWhole: boolean;
}

/** Return the hunks, or undefined if the passage does not occur exactly once or nothing is visible yet. */
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

/** Lines that were not rewritten yet are not deleted. */
function withoutTheRest(hunks: readonly Hunk[], lines: number): readonly Hunk[] {
  const last = hunks.at(-1);
  if (!last || last.oldStart + last.oldLines.length < lines) return hunks;
  return last.newLines.length > 0 ? [...hunks.slice(0, -1), { ...last, oldLines: [] }] : hunks.slice(0, -1);
}
