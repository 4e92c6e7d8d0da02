/** Texts for people in VS Code outside the panel: status bar, notifications, input boxes, edits in documents. */

import { plural } from "./plural";

export const PRODUCT = "Hermes";
export const CLIENT_TITLE = "Hermes for VS Code";
export const LANGUAGE_CLIENT = "Hermes language server";

export const STATUS_IDLE = "$(sparkle) Hermes";
export const STATUS_BUSY = "$(loading~spin) Hermes";
export const STATUS_FAILED = "$(error) Hermes";
export const statusAsking = (questions: number) => `$(bell-dot) Hermes: ${questions}`;
export const WAITING_NAME = "Hermes: Waiting";
export const statusWaiting = (waiting: number) => `$(inbox) ${waiting}`;
export const OPEN_PRODUCT = "Open Hermes";
export const WAITING_FOR_ANSWER = "Hermes is waiting for your answer";
export const tooltipReady = (version: string) => `Hermes ${version}`;
export const tooltipFailed = (why: string, fix: string) => `${why}\n\n${fix}`;
export const statusLabel = (state: string) => `Hermes: ${state}`;
export const STATUS_LABELS = {
  off: "not started",
  starting: "starting",
  ready: "ready",
  failed: "failed",
  asking: "waiting for your answer",
} as const;
export const questionsWaiting = (count: number) =>
  count === 1 ? "1 question is waiting for your answer" : `${count} questions are waiting for your answer`;

export const READ_COMMAND_FIRST = "Read the command to its end in the Hermes panel before you allow it.";

export const editInlinePlaceholder = (place: string) =>
  `Edit ${place}: describe the change (Enter to send, Escape to cancel)`;
export const EDITING = "Hermes is editing";
export const UNTRUSTED_NO_EDITS = "Hermes does not edit files in a folder that you have not trusted.";
export const MANAGE_TRUST = "Manage trust";

export const ATTACH = "Attach";
export const tooLargePicture = (file: string) => `${file} is larger than 5 MB. Attach a smaller picture.`;

export const NOTHING_STAGED = "Nothing is staged. Stage the changes that you want to commit first.";
export const WRITING_COMMIT_MESSAGE = "Hermes is writing a commit message";
export const CODE_ACTIONS_ON =
  "Code actions are on. Select code and press Ctrl+. to explain, fix, refactor or test it.";
export const COMPLETION_ON = "Suggestions are on. Type, pause, and press Tab to accept one. Each pause asks the model.";
export const TRUST_FIRST = "They start once you trust this folder.";
export const pendingEdits = (count: number) => `${plural(count, "edit")} to review`;

export const PROBLEMS = "Problems";
export const problemsInWorkspace = (count: number) => `${count} in the workspace`;
export const TERMINAL = "Terminal";
export const lastCommandIn = (terminal: string) => `last command in ${terminal}`;
export const PAST_SESSION = "past session";
export const PAST_SESSION_START = "Past session";
export const PAST_SESSION_TITLE = "type a word of its title";
export const SYMBOL_START = "Symbol";
export const SYMBOL_NAME = "type part of its name";
export const WEB_PAGE_START = "Web page";
export const WEB_PAGE_ADDRESS = "type its address";
export const GIT_CHANGES = "Git changes";
export const UNCOMMITTED = "uncommitted changes";

export const WRITING_LENS = "$(loading~spin) Hermes is writing…";
export const ACCEPT_LENS = "$(check)\u2002Accept";
export const REJECT_LENS = "$(close)\u2002Reject";
export const acceptAllLens = (hunks: number) => `$(check-all)\u2002Accept all ${hunks}`;
export const rejectAllLens = (hunks: number) => `$(discard)\u2002Reject all ${hunks}`;

export const NO_EDITOR_TO_INSERT = "Open a file first. The code is inserted at its cursor.";
export const RUN_IN_TERMINAL = "Run this in the terminal?";
export const RUN = "Run";
export const CODE_TERMINAL = "Hermes: code";
export const HIDDEN_SIGNS = "This text contains invisible characters. Copy it and check it before you run it.";
export const TOO_LONG_TO_RUN = "This is too long to show in full here. Copy it, check it and run it yourself.";
export const UNTRUSTED_NO_RUN = "Hermes runs nothing in a folder that you have not trusted.";

export const reviewTitle = (file: string) => `Review: ${file}`;
export const reviewLens = (hunks: number) => `$(diff) ${plural(hunks, "proposed change")}`;
export const DECISION_UNDONE = "Your last decision on this edit was undone.";
export const NOTHING_TO_UNDO = "Nothing to undo here. You have not accepted or rejected any part of this edit yet.";
export const UNDO_IN_FILE = "This edit is already in the file. Open the file to undo it there.";
export const PAGE_NOT_SAVED = "Nothing under review was saved. Accept or reject the changes first.";
export const SHOW_HUNK = "Show";
export const toReview = (path: string, hunks: number) => `${path} · ${hunks} to review`;
export const diffTitle = (file: string) => `${file} (change)`;
export const CHANGES_OF_TURN = "Changes in this turn";
export const UNDO = "Undo";
export const undoTurn = (files: string) => `Undo what this turn changed in ${files}?`;
export const OVERWRITE = "Overwrite";
export const overwriteLater = (files: string) =>
  `Changed again after this turn: ${files}. Undo anyway and overwrite the later changes?`;

export const linesAdded = (added: number, line: number) => `${plural(added, "line")} added at line ${line}`;
export const linesRemoved = (removed: number, line: number) => `${plural(removed, "line")} removed at line ${line}`;
export const linesReplaced = (removed: number, added: number, line: number) =>
  removed === added
    ? `${plural(removed, "line")} changed at line ${line}`
    : `${plural(removed, "line")} replaced by ${added} at line ${line}`;
