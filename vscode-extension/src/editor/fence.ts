/** Answers that consist of a code block. */

/** Remove the code fence that models often put around an answer. */
export function withoutFence(text: string): string {
  const fenced = /^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return (fenced?.[1] ?? text).trim();
}
