/**
 * Texts that are too long to read at a glance.
 *
 * A card shows the start of such a text. Its question can be answered with yes once the end was on the screen.
 */

export const MAX_SHOWN_LINES = 7;
const MAX_SHOWN_CHARACTERS = 700;

export function isLong(text: string): boolean {
  return text.length > MAX_SHOWN_CHARACTERS || lineCount(text) > MAX_SHOWN_LINES;
}

/** Count the lines that a card hides at first, or 0 if the text is a single long line. */
export function hiddenLines(text: string): number {
  return Math.max(0, lineCount(text) - MAX_SHOWN_LINES);
}

function lineCount(text: string): number {
  return text.trimEnd().split("\n").length;
}
