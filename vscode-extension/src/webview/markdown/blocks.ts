/** Split Markdown into blocks, so that only the end of a growing text is redrawn. */

import { parser } from "./parser";

/** Split a text into the source of its top-level blocks. Joined by line feeds, they are the text. */
export function blocksOf(text: string): readonly string[] {
  const lines = text.split("\n");
  const starts = parser
    .parse(text, {})
    .filter((token) => token.level === 0 && token.map && token.nesting >= 0)
    .map((token) => token.map?.[0] ?? 0);
  if (starts.length === 0) return text.trim() ? [text] : [];
  return starts.map((start, at) => lines.slice(at === 0 ? 0 : start, starts[at + 1] ?? lines.length).join("\n"));
}

export interface Blocks {
  readonly text: string;
  readonly blocks: readonly string[];
}

/** The number of blocks at the end that may still change as the text grows. */
const UNSETTLED = 2;

/** Split a text into blocks. If it has only grown, reuse the settled blocks. */
export function growBlocks(before: Blocks, text: string): Blocks {
  const settled = before.blocks.slice(0, -UNSETTLED);
  const length = settled.reduce((sum, block) => sum + block.length + 1, 0);
  if (settled.length === 0 || before.text.length > text.length || !text.startsWith(before.text)) {
    return { text, blocks: blocksOf(text) };
  }
  return { text, blocks: [...settled, ...blocksOf(text.slice(length))] };
}
