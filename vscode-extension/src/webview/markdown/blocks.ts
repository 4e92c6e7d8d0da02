/**
 * A text in Markdown cut into its blocks, so that a growing text draws only its end again.
 *
 * Knows: where blocks begin. Does not know: how a block is drawn.
 */

import { parser } from "./parser";

/** Cut a text into its top-level blocks, in source; joined by line feeds they are the text. */
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

/** So many blocks at the end may still become others when the text goes on. */
const UNSETTLED = 2;

/** Cut a text into its blocks; of one that has only grown, those that are settled are kept. */
export function growBlocks(before: Blocks, text: string): Blocks {
  const settled = before.blocks.slice(0, -UNSETTLED);
  const length = settled.reduce((sum, block) => sum + block.length + 1, 0);
  if (settled.length === 0 || before.text.length > text.length || !text.startsWith(before.text)) {
    return { text, blocks: blocksOf(text) };
  }
  return { text, blocks: [...settled, ...blocksOf(text.slice(length))] };
}
