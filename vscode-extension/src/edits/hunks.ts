/**
 * A change of a file as hunks that are reviewed one by one.
 *
 * Lines are the text between line feeds, so that splitting and joining loses nothing.
 */

import { diffArrays } from "diff";

import { linesAdded, linesRemoved, linesReplaced } from "../messages/editor";
import type { Verdict } from "../state/terms";

/** `oldLines` at `oldStart` (from 0) of the old text are replaced by `newLines` at `newStart` of the new text. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: readonly string[];
  readonly newStart: number;
  readonly newLines: readonly string[];
}

/** Beyond this many edits, the change is shown as one hunk, because nobody reviews hundreds of pieces. */
const MAX_EDITS = 4000;

export const linesOf = (text: string): string[] => text.split("\n");

export function hunksOf(oldText: string, newText: string): readonly Hunk[] {
  const oldLines = linesOf(oldText);
  const newLines = linesOf(newText);
  if (oldText === newText) return [];
  // Common lines at both ends are excluded first, so that a new empty line is not mistaken for an existing one.
  const { head, tail } = inCommon(oldLines, newLines);
  const before = oldLines.slice(head, oldLines.length - tail);
  const after = newLines.slice(head, newLines.length - tail);
  const parts = diffArrays(before, after, { maxEditLength: MAX_EDITS });
  if (!parts) return [{ oldStart: head, oldLines: before, newStart: head, newLines: after }];
  const hunks: Hunk[] = [];
  let oldAt = head;
  let newAt = head;
  let open: { oldStart: number; oldLines: string[]; newStart: number; newLines: string[] } | undefined;
  for (const part of parts) {
    if (!part.added && !part.removed) {
      open = undefined;
      oldAt += part.value.length;
      newAt += part.value.length;
      continue;
    }
    if (!open) {
      open = { oldStart: oldAt, oldLines: [], newStart: newAt, newLines: [] };
      hunks.push(open);
    }
    if (part.removed) {
      open.oldLines.push(...part.value);
      oldAt += part.value.length;
    } else {
      open.newLines.push(...part.value);
      newAt += part.value.length;
    }
  }
  return hunks;
}

/** Count the common lines at the start, and those at the end of the rest. */
function inCommon(before: readonly string[], after: readonly string[]): { head: number; tail: number } {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return { head, tail };
}

/** Return the old text with the accepted hunks applied. Open ones count as `open`. */
export function textWith(
  oldText: string,
  hunks: readonly Hunk[],
  verdicts: readonly Verdict[],
  open: "accepted" | "rejected" = "rejected",
): string {
  const before = linesOf(oldText);
  const lines: string[] = [];
  let at = 0;
  hunks.forEach((hunk, number) => {
    lines.push(...before.slice(at, hunk.oldStart));
    const verdict = verdicts[number] ?? "open";
    const isTaken = (verdict === "open" ? open : verdict) === "accepted";
    lines.push(...(isTaken ? hunk.newLines : hunk.oldLines));
    at = hunk.oldStart + hunk.oldLines.length;
  });
  lines.push(...before.slice(at));
  return lines.join("\n");
}

/** Describe a hunk in one line, for lists and screen readers. */
export function describe(hunk: Hunk): string {
  const [removed, added, line] = [hunk.oldLines.length, hunk.newLines.length, hunk.oldStart + 1];
  if (removed === 0) return linesAdded(added, line);
  if (added === 0) return linesRemoved(removed, line);
  return linesReplaced(removed, added, line);
}

/** Count added and removed lines. */
export function tally(hunks: readonly Hunk[]): { readonly added: number; readonly removed: number } {
  const sum = (lines: (hunk: Hunk) => readonly string[]) =>
    hunks.reduce((total, hunk) => total + lines(hunk).length, 0);
  return { added: sum((hunk) => hunk.newLines), removed: sum((hunk) => hunk.oldLines) };
}
