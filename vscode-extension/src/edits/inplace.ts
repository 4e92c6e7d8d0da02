/**
 * Hunks drawn into a text: the lines that go and the lines that come, one above the other.
 *
 * Knows: blocks of lines, how they move when somebody types, what is left when they are decided.
 * Does not know: documents, decorations, who decides.
 */

import { linesOf, type Hunk } from "./hunks";
import type { Verdict } from "../state/terms";

/** A hunk in a shown text: from `line` on (from 0) `gone` lines that go, then `come` lines that come. */
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

/** Draw the open hunks into the old text; decided ones are as they were decided. */
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

/** Somebody's typing: lines `first` to `last` (both counted) gave way to `lines` lines. */
export interface Typing {
  readonly first: number;
  readonly last: number;
  readonly lines: number;
}

/**
 * Let blocks follow somebody's typing. Typing in the lines that come belongs to them; a block whose lines that go were
 * touched is given up, since nobody can tell any more what it was.
 */
export function follow(blocks: readonly Block[], { first, last, lines }: Typing): readonly Block[] {
  const grown = lines - (last - first + 1);
  return blocks.flatMap((block): readonly Block[] => {
    const firstCome = block.line + block.gone;
    const end = firstCome + block.come;
    if (first >= end) return [block];
    if (last < block.line) return [{ ...block, line: block.line + grown }];
    if (first >= firstCome && last < end) return [{ ...block, come: block.come + grown }];
    return [];
  });
}

/** Return the text with each block decided: the lines that stay are those of the side that is kept. */
export function decide(text: string, blocks: readonly Block[], keeps: (hunk: number) => "old" | "new" | "both"): Shown {
  const lines = linesOf(text);
  const kept: string[] = [];
  const left: Block[] = [];
  let at = 0;
  for (const block of blocks) {
    const firstCome = block.line + block.gone;
    const end = firstCome + block.come;
    kept.push(...lines.slice(at, block.line));
    const side = keeps(block.hunk);
    if (side === "both") left.push({ ...block, line: kept.length });
    if (side !== "new") kept.push(...lines.slice(block.line, firstCome));
    if (side !== "old") kept.push(...lines.slice(firstCome, end));
    at = end;
  }
  kept.push(...lines.slice(at));
  return { text: kept.join("\n"), blocks: left };
}
