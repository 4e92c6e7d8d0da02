/** Show hunks inside a text: the removed lines above the added ones. */

import { linesOf, type Hunk } from "./hunks";
import type { Verdict } from "../state/terms";

/** A hunk in a shown text: starting at `line` (from 0), `gone` removed lines, then `come` added lines. */
export interface Block {
  readonly hunk: number;
  readonly line: number;
  readonly gone: number;
  readonly come: number;
}

export interface Shown {
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** Insert the open hunks into the old text. Decided hunks appear as decided. */
export function draw(oldText: string, hunks: readonly Hunk[], verdicts: readonly Verdict[]): Shown {
  const before = linesOf(oldText);
  const lines: string[] = [];
  const blocks: Block[] = [];
  let at = 0;
  hunks.forEach((hunk, number) => {
    lines.push(...before.slice(at, hunk.oldStart));
    const verdict = verdicts[number] ?? "open";
    if (verdict === "open") {
      blocks.push({ hunk: number, line: lines.length, gone: hunk.oldLines.length, come: hunk.newLines.length });
    }
    if (verdict !== "accepted") lines.push(...hunk.oldLines);
    if (verdict !== "rejected") lines.push(...hunk.newLines);
    at = hunk.oldStart + hunk.oldLines.length;
  });
  lines.push(...before.slice(at));
  return { text: lines.join("\n"), blocks };
}
