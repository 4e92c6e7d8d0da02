/**
 * A command's output as plain lines.
 *
 * Knows: escape sequences, carriage returns. Does not know: who put it out.
 */

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Leave out what only moves a cursor or sets a colour; of a line written over, the last writing stays. */
export function plainTerminal(output: string): string {
  return output
    .replace(ESCAPES, "")
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n");
}
