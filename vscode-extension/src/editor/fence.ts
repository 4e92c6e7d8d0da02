/**
 * Answers that are a block of code.
 *
 * Knows: fences. Does not know: what the block is for.
 */

/** Return an answer without the block of code that models like to put it into. */
export function withoutFence(text: string): string {
  const fenced = /^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return (fenced?.[1] ?? text).trim();
}
