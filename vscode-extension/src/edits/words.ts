/** Changed words of a hunk, as positions in its lines. */

import { diffWordsWithSpace } from "diff";

import type { Hunk } from "./hunks";

/** Columns `from` up to `to` of a line; `line` counts from 0 within its side of the hunk. */
export interface WordPlace {
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

export interface ChangedWords {
  readonly gone: readonly WordPlace[];
  readonly come: readonly WordPlace[];
}

const NONE: ChangedWords = { gone: [], come: [] };
/** Beyond this length, word changes are less useful than line changes, and take longer to compute. */
const MAX_CHARACTERS = 20_000;
const MAX_EDITS = 400;
/** Below this share of common text, the lines have little in common. */
const MIN_COMMON = 0.3;

/** Return the removed and added words, or none if a hunk only adds, only removes, or rewrites everything. */
export function changedWords({ oldLines, newLines }: Hunk): ChangedWords {
  const [before, after] = [oldLines.join("\n"), newLines.join("\n")];
  if (before === "" || after === "" || before.length + after.length > MAX_CHARACTERS) return NONE;
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
  if (!parts) return NONE;
  const common = parts.reduce((sum, part) => sum + (part.added || part.removed ? 0 : part.value.trim().length), 0);
  if (common * 2 < MIN_COMMON * (before.length + after.length)) return NONE;
  const gone: WordPlace[] = [];
  const come: WordPlace[] = [];
  let [goneAt, comeAt] = [START, START];
  for (const { value, added, removed } of parts) {
    if (removed) gone.push(...placesOf(value, goneAt));
    if (added) come.push(...placesOf(value, comeAt));
    if (!added) goneAt = behind(value, goneAt);
    if (!removed) comeAt = behind(value, comeAt);
  }
  return { gone, come };
}

interface Place {
  readonly line: number;
  readonly column: number;
}
const START: Place = { line: 0, column: 0 };

function behind(text: string, { line, column }: Place): Place {
  const lines = text.split("\n");
  const last = lines.at(-1) ?? "";
  return lines.length === 1
    ? { line, column: column + last.length }
    : { line: line + lines.length - 1, column: last.length };
}

function placesOf(text: string, { line, column }: Place): readonly WordPlace[] {
  return text
    .split("\n")
    .map((part, at) => ({ line: line + at, from: at === 0 ? column : 0, part }))
    .filter(({ part }) => part !== "")
    .map(({ part, from, line: at }) => ({ line: at, from, to: from + part.length }));
}
