/** Texts for the agent. People see only CONTINUE_TURN and askAgain, as their own messages. */

export const CONTINUE_TURN = "Continue where you left off.";
export const askAgain = (question: string) => `Ask me again, I could not answer: ${question}`;
export const editOnlySelection = (path: string, place: string) =>
  `Change only these lines of ${path} (${place}), with one edit.`;
export const applyCode = (code: string, open: string | undefined) => {
  const ticks = "`".repeat(Math.max(3, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)));
  const where = open ? ` to the file it belongs to (${open} is open)` : " to the file it belongs to";
  return `Apply this code${where}. Change nothing else.\n\n${ticks}\n${code.trimEnd()}\n${ticks}`;
};
export const USER_SAID = "User:";
export const AGENT_SAID = "Agent:";
export const commitMessageFor = (diff: string) =>
  `Write a commit message for the staged changes below. Answer with the message alone, without a code block: a subject of at most 72 characters in the imperative, then, if it helps, an empty line and the reason for the change. Use no tools.\n\n${diff}`;
export const REST_LEFT_OUT = "[the rest is omitted]";
export const NO_GIT_CHANGES = "There are no changes.";
export const gitFailed = (why: string) => `git diff failed: ${why}`;
export const NOT_TRUSTED = "The workspace is not trusted. Files in it cannot be written.";
export const changedMeanwhile = (path: string) =>
  `${path} was changed in the editor on the same lines, so nothing was written. Read it again.`;
export const PATH_NEEDED = "path must be a string";
export const moreLines = (count: number) => `… ${count} more lines`;
