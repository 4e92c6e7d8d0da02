/** Texts for people in a conversation: cards, questions, diffs, plans, ends of turns. */

import type { TurnTimes } from "../state/terms";
import { plural } from "./plural";

export const YOU = "You";
export const AGENT = "Hermes";
export const QUEUED = "waiting for the current turn";
export const THINKING = "Thinking…";
export const THOUGHT = "Thought";
export const SUMMARISING = "Summarising the conversation…";
export const SUMMARISED = "The earlier part was summarised";

export const CALL_STATES = {
  pending: "waiting",
  in_progress: "running",
  completed: "done",
  failed: "failed",
} as const;
export const ASKS_YOU = "waiting for your answer";
export const REJECTED_STATE = "rejected";
export const STOPPED_STATE = "stopped";
export const NOT_FINISHED = "not finished";
export const cardLabel = (title: string, state: string) => `${title}, ${state}`;
export const exitCode = (code: number) => `exit ${code}`;
export const COMMAND = "Command";
export const ARGUMENTS = "Arguments";
export const showMoreLines = (lines: number) => `Show ${plural(lines, "more line")}`;
export const SHOW_ALL = "Show all of it";
export const OUTPUT = "Output";
export const PICTURE = "picture";
export const DIAGRAM = "Diagram; its source follows";
export const noDiagram = (why: string) => `This diagram cannot be drawn: ${why}`;
export const diagramTooLong = (max: number) => `it has more than ${max} characters.`;
export const SHOW_SOURCE = "Show or hide the source";
export const COPY_CODE = "Copy code";
export const INSERT_CODE = "Insert at the cursor";
export const APPLY_CODE = "Let Hermes apply this to its file";
export const RUN_CODE = "Run in the terminal";

export const duration = (ms: number) => {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
export const ranAt = (when: string, tookMs: number | undefined) => {
  return tookMs === undefined ? `Started ${when}` : `${when}, ran for ${duration(tookMs)}`;
};
export const timeSpent = (when: string, { modelMs, firstWordMs, toolsMs, waitingMs }: TurnTimes) => {
  return [
    when,
    `model ${duration(modelMs)}`,
    ...(firstWordMs === undefined ? [] : [`first word after ${duration(firstWordMs)}`]),
    `tools ${duration(toolsMs)}`,
    `waiting for you ${duration(waitingMs)}`,
  ].join(" · ");
};
export const NO_OUTPUT_YET = "No output yet.";
export const NO_OUTPUT = "No output.";

export const PERMISSION_QUESTION = "Hermes asks";
export const WARNING = "Warning";
export const READ_TEXT_FIRST = "Read the text above to the end first";
export const REJECT_WITH_REASON = "Reject and say why";
export const LASTING_ANSWERS = "Always allow or reject";
export const REJECT_REASON = "Why you reject this, or what to do instead";
export const REJECT_REASON_HINT = "Why not, or what to do instead";
export const answered = (isAllowed: boolean, comment: string) =>
  `${isAllowed ? "Allowed" : "Rejected"}${comment ? `: ${comment}` : ""}`;
export const answeredIn = (isAllowed: boolean, client: string) =>
  `${isAllowed ? "Allowed" : "Rejected"} in another client: ${client}`;
export const answeredLastingly = (option: string, comment: string) => `${option}${comment ? `. ${comment}` : ""}`;
export const allowedInPart = (accepted: number, changes: number) =>
  `Allowed in part: ${accepted} of ${plural(changes, "change")}`;
export const ANSWER_KEYS = { allow: "Ctrl+Alt+Enter", reject: "Ctrl+Alt+Backspace" } as const;
export const MAC_ANSWER_KEYS = { allow: "⌥⌘⏎", reject: "⌥⌘⌫" } as const;
export const optionWithKey = (option: string, key: string) => `${option} (${key})`;

export const questionLabel = (question: string) => `Hermes asks: ${question}`;
export const PAGE_OPENED = "Page opened";
export const LEFT_EMPTY = "Left empty";
export const NOT_ANSWERED = "Not answered";
export const OPEN_PAGE = "Open the page";
export const ANSWER = "Answer";
export const DISMISS = "Dismiss";

export const CHILD_AGENT = "Child agent";
export const childLabel = (title: string, state: string) => `Child agent: ${title}, ${state}`;
export const childCalls = (count: number) => (count === 0 ? "" : plural(count, "call"));
export const CHILD_CALLS = "Tool calls";
export const CHILD_NOTHING_YET = "Nothing to show yet.";
export const CHILD_NOTHING_KEPT = "Its tool calls were not kept.";

export const linesAddedLabel = (count: number) => `${plural(count, "line")} added`;
export const linesRemovedLabel = (count: number) => `${plural(count, "line")} removed`;
export const COMPARE = "Compare in the editor";
export const compareFile = (path: string) => `Compare ${path} in the editor`;
export const DIFF_CUT = "Open the diff view to see the rest.";
export const VERDICTS = { open: "not reviewed", accepted: "accepted", rejected: "rejected" } as const;
export const hunkLabel = (hunk: string, verdict: string) => `${hunk}, ${verdict}`;
export const ACCEPT = "Accept";
export const ACCEPT_HUNK = "Accept this hunk";
export const REJECT = "Reject";
export const REJECT_HUNK = "Reject this hunk";

export const PLAN_STATES = { pending: "to do", in_progress: "in progress", completed: "done" } as const;
export const PLAN_DONE = "All done";
export const planProgress = (progress: string) => `Plan, ${progress} done`;

export const ENDS: Readonly<Record<string, string>> = {
  cancelled: "Stopped.",
  max_tokens: "The answer was cut off at the model's maximum length.",
  max_turn_requests: "Stopped: the turn reached its step limit.",
  refusal: "The prompt was refused.",
  failed: "The turn failed.",
  lost: "The turn was interrupted.",
};
export const unknownEnd = (reason: string) => `The turn ended: ${reason}.`;
export const WINDOW_RELOADED = "The window was reloaded.";
export const SET_UP_MODEL = "Set up a model";
export const unanswered = (question: string) => `Hermes was waiting for your answer and has not done this: ${question}`;
export const ASK_AGAIN = "Ask me again";
export const CONTINUE = "Continue";
export const RETRY = "Retry";
export const filesChanged = (count: number) => `${plural(count, "file")} changed`;
export const UNDONE = "Undone";
export const CHANGES = "Changes";
export const UNDO = "Undo";
