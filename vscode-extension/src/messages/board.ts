/** Texts for people on boards: the cards by state, a card in full, and its form. */

import { plural } from "./plural";

export const STATES = {
  input_required: "Input required",
  review: "Review",
  inbox: "Inbox",
  ready: "Ready",
  running: "Running",
  merging: "Merging",
  parked: "Parked",
  done: "Done",
} as const;
export const columnTitle = (state: string, count: number) => `${state} ${count}`;
export const BOARD = "Board";
export const LOADING = "Loading the board";
export const NO_CARDS = "No cards yet.";
export const showAll = (count: number) => `Show all ${count}`;
export const cardNumber = (id: string) => `#${id}`;
export const priority = (number: number) => (number === 3 ? "" : `priority ${number}`);
export const waitsFor = (ids: readonly string[]) =>
  ids.length > 0 ? `waits for ${ids.map((id) => `#${id}`).join(", ")}` : "";
export const QUEUED = "waiting for a worker";
export const commentCount = (count: number) => (count > 0 ? plural(count, "comment") : "");
export const cost = (dollars: number) => (dollars > 0 ? `$${dollars.toFixed(2)}` : "");
export const spentOf = (dollars: number, limit: number | null) =>
  limit === null ? cost(dollars) : `$${dollars.toFixed(2)} of $${limit.toFixed(2)}`;
export const tokens = (count: number) => (count > 0 ? `${count.toLocaleString("en")} tokens` : "");

export const HISTORY_KINDS: Readonly<Record<string, string>> = {
  added: "added",
  edited: "edited",
  moved: "moved",
  commented: "commented",
  linked: "linked",
  unlinked: "unlinked",
  answered: "answered",
  attempt_started: "attempt started",
  attempt_noted: "attempt",
  branch_noted: "branch",
  removed: "removed",
  restored: "restored",
};

export const ALL_CARDS = "All cards";
export const START = "Start";
export const TO_INBOX = "Back to the inbox";
export const MARK_DONE = "Mark as done";
export const APPROVE = "Approve";
export const SEND_BACK = "Send back";
export const PARK = "Park";
export const COMMENT = "Comment";
export const WORDS = "Message";
export const WORDS_HINT = "A comment, or what to change.";
export const REMOVE = "Remove";
export const KEEP = "Keep";
export const removeCard = (title: string) =>
  `Remove the card ${title}? You can restore it with hermes-acp board restore.`;
export const EDIT = "Edit";
export const OPEN_SESSION = "Open its session";
export const SHOW_DIFF = "Show what its branch changes";
export const NO_CHANGES = "The branch contains no changes.";
export const DIFF_CUT = "Only part of the diff is shown here.";
export const DIFF_OF = "Changes of the branch";

export const TEXT = "Text";
export const RESULT = "Result";
export const REASON = "Reason";
export const NEXT_WORDS = "Requested changes";
export const LINKS = "Links";
export const LINK_KINDS = { blocks: "blocks", parent: "is part of", found_in: "was found in" } as const;
export const INCOMING_KINDS = { blocks: "is blocked by", parent: "consists of", found_in: "led to" } as const;
export const linkTo = (kind: string, id: string, title: string) => `${kind} #${id} ${title}`;
export const UNLINK = "Remove the link";
export const unlink = (id: string) => `Remove the link to #${id}`;
export const BLOCKED_BY = "Number of a card that must be done first";
export const ADD_BLOCKER = "Add";
export const COMMENTS = "Comments";
export const HISTORY = "History";
export const byAt = (who: string, when: string) => (when ? `${who}, ${when}` : who);
export const movedTo = (state: string) => `moved to ${state}`;

export const ADD_CARD = "Add a card";
export const TITLE = "Title";
export const CARD_TEXT = "What to do (if empty, the title is the prompt)";
export const FOLDER = "Folder on the server";
export const PRIORITY = "Priority, 1 (first) to 5";
export const MAX_COST = "Cost limit in US dollars (optional)";
export const CHECKS = "Checks before merging, one command per line (optional)";
export const WORKTREE = "Where to work on it";
export const WORKTREES = { own: "in its own git worktree", same: "in the folder itself" } as const;
export const FIRST_STATE = "Initial state";
export const FIRST_STATES = { inbox: "in the inbox", ready: "started as soon as possible" } as const;
export const BLOCKERS = "Numbers of cards that must be done first (optional)";
export const ADD = "Add the card";
export const SAVE = "Save";
export const CANCEL = "Cancel";
