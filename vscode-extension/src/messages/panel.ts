/** Texts for people around the conversation in the panel: tabs, prompt, options, past sessions. */

import { plural } from "./plural";

export const NEW_SESSION = "New session";
export const SESSIONS = "Sessions";
export const ALL_SESSIONS = "All open sessions";
export const START_SESSION = "New session";
export const inState = (name: string, state: string) => (state ? `${name} (${state})` : name);
export const CONVERSATION = "Conversation";
export const asksElsewhere = (name: string) => `${name} is waiting for your answer`;
export const QUESTION_ABOVE = "A question above is waiting for your answer";
export const QUESTION_BELOW = "A question below is waiting for your answer";
export const SCROLL_TO_END = "Scroll to the end";
export const closeTab = (name: string) => `Close ${name}`;
export const TAB_STATES = { idle: "", working: "working", asking: "waiting for your answer" } as const;

export const WELCOME_TITLE = "Hermes";
export const WELCOME = "What would you like to do? Hermes asks before it changes anything.";
export const HINT_MENTIONS = "files, symbols, problems, terminal, past sessions";
export const HINT_COMMANDS = "commands";
export const HINT_INLINE = "edit the selected lines";
export const INLINE_KEY = "Ctrl+I";
export const WELCOME_NO_FOLDER = "Hermes works in a folder. Open one to start.";
export const OPEN_FOLDER = "Open a folder";
export const UNTRUSTED =
  "You have not trusted this folder. Hermes can read and plan here, but does not edit or run anything.";
export const MANAGE_TRUST = "Manage";

export const WORKING = "Working";
export const ANNOUNCE_WORKING = "Hermes is working.";
export const ANNOUNCE_DONE = "Hermes has finished.";
export const announceQuestion = (question: string) => `Hermes asks: ${question}`;

export const PROMPT = "Prompt";
export const PROMPT_HINT = "Ask Hermes. @ mentions files";
export const PROMPT_HINT_WORKING = "Send while Hermes works";
export const SEND = "Send";
export const SEND_WORKING = "Send while Hermes works";
export const sendByKey = (send: string) => `${send} (Enter)`;
export const STOP = "Stop";
export const STOP_BY_KEY = "Stop (Escape)";
export const IMAGE = "image";
export const REMOVE_IMAGE = "Remove the image";
export const removeMention = (label: string) => `Remove ${label}`;
export const ATTACH = "Attach files or pictures";
export const SPEAK = "Hold to speak";
export const SPEAKING = "Recording. Release to stop";
export const TRANSCRIBING = "Transcribing";
export const HOLD_TO_SPEAK = "Hold the button while you speak. The text appears here, for you to check and send.";
export const MICROPHONE_DENIED =
  "This page may not use the microphone. Allow it in the browser, in the settings of this page, then try again.";
export const MICROPHONE_MISSING = "The browser found no microphone.";
export const MICROPHONE_BUSY = "The microphone cannot be used. Another program may be using it.";
export const MICROPHONE_NEEDS_HTTPS =
  "Browsers only record on pages that are served over HTTPS or from your own machine.";
export const CONTEXT = "What you are looking at";
export const contextChip = (label: string) => `Include ${label}`;
export const contextTaken = (label: string) => `${label} is included. Click to leave it out.`;
export const contextLeftOut = (label: string) => `${label} is not included. Click to include it.`;
export const SUGGESTIONS = "Suggestions";
export const SELECTED_LINES = "selected lines";

export const MORE_OPTIONS = "More options";
export const COMING_OPTIONS = ["Mode", "Model"] as const;
export const optionTitle = (name: string, value: string) => `${name}: ${value}`;
export const tokensUsed = (used: string, size: string, percent: number, cost: string) =>
  `${used} of ${size} tokens (${percent}%)${cost ? `, ${cost}` : ""}`;
export const contextLabel = (usage: string) => `Context: ${usage}`;

export const PAST_SESSIONS = "Past sessions";
export const BACK = "Back";
export const SEARCH_SESSIONS = "Search past sessions";
export const NO_SESSIONS = "No sessions yet.";
export const NO_TITLE_MATCHES = "No session title contains these words.";
export const NO_TEXT_MATCHES = "No session contains these words.";
export const OLDER_SESSIONS = "Older sessions";
export const FOUND_IN_TEXT = "Found in conversations";
export const SPEAKERS = { user: "You", agent: "Hermes", tool: "Tool", title: "Title" } as const;
export const passageSource = (speaker: string, title: string, when: string) =>
  `${speaker} · ${title || "Untitled"} · ${when}`;
export const JUST_NOW = "just now";
export const NEW_TITLE = "New title";
export const renameSession = (title: string) => `Rename ${title}`;
export const forkSession = (title: string) => `Fork ${title}`;
export const deleteSession = (title: string) => `Delete ${title}`;

export const REWIND = "Edit this message and continue from here";
export const REWIND_WHAT = "Go back to before this message:";
export const REWIND_WORDS = "Conversation only";
export const rewindFiles = (files: number) => `Conversation and ${plural(files, "file")}`;
export const CANCEL = "Cancel";
export const REWOUND = "The conversation was rewound. What followed is kept in the past sessions.";
export const UNDO_REWIND = "Undo";

export const QUEUE = "Queued messages";
export const queued = (count: number) => `After this turn: ${plural(count, "message")}`;
export const held = (count: number) => `Not sent yet: ${plural(count, "message")}`;
export const SEND_NOW = "Send to the running turn now";
export const EDIT = "Edit";
export const MOVE_UP = "Move up";
export const MOVE_DOWN = "Move down";
export const REMOVE = "Remove";
export const QUEUED_TEXT = "Queued message";
export const sendQueued = (send: string, text: string) => `${send}: ${text}`;
export const editQueued = (text: string) => `Edit: ${text}`;
export const moveUp = (text: string) => `Move up: ${text}`;
export const moveDown = (text: string) => `Move down: ${text}`;
export const removeQueued = (text: string) => `Remove: ${text}`;
export const withAttachments = (count: number) => `(${plural(count, "attachment")})`;
