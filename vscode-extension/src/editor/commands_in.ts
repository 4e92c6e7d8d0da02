/** The commands in a block of code of a shell. A block may show a session, with a prompt before each command. */

const PROMPT = "$ ";

/** Return the commands to run. In a session, those are the lines with a prompt; the rest is output. */
export function commandsIn(text: string): string {
  const lines = text.split("\n");
  const typed = lines.filter((line) => line.startsWith(PROMPT)).map((line) => line.slice(PROMPT.length));
  return (typed.length > 0 ? typed : lines).join("\n").trim();
}
