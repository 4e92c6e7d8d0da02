/** The order of offered mentions. */

import {
  PAST_SESSION_START,
  PAST_SESSION_TITLE,
  SYMBOL_START,
  SYMBOL_NAME,
  WEB_PAGE_START,
  WEB_PAGE_ADDRESS,
} from "../messages/editor";
import type { Mention } from "../panel/protocol";

/** Candidates by kind. */
export interface Found {
  readonly special: readonly Mention[];
  readonly folders: readonly Mention[];
  readonly files: readonly Mention[];
  readonly symbols: readonly Mention[];
  readonly sessions: readonly Mention[];
}

const MAX_FOUND = 30;
const MAX_FILES_FIRST = 6;
const MAX_FOLDERS_FIRST = 2;

/** Kinds that need more input before there are candidates. Choosing one inserts its prefix. */
const STARTS: readonly Mention[] = [
  { kind: "symbol", token: "", label: SYMBOL_START, detail: SYMBOL_NAME, isStart: true },
  { kind: "session", token: "session:", label: PAST_SESSION_START, detail: PAST_SESSION_TITLE, isStart: true },
  { kind: "url", token: "https://", label: WEB_PAGE_START, detail: WEB_PAGE_ADDRESS, isStart: true },
];

/** Return the candidates for the word after an @, most likely first. For the @ alone, offer something of every kind. */
export function offered(word: string, { special, folders, files, symbols, sessions }: Found): readonly Mention[] {
  const selected = special.filter(isSelection);
  const others = special.filter((each) => !isSelection(each));
  // Before anything is typed, a file is the most likely choice.
  const found = word
    ? [...selected, ...others, ...sessions, ...folders, ...files, ...symbols]
    : [
        ...selected,
        ...files.slice(0, MAX_FILES_FIRST),
        ...folders.slice(0, MAX_FOLDERS_FIRST),
        ...others,
        ...STARTS,
        ...files.slice(MAX_FILES_FIRST),
      ];
  return found.slice(0, MAX_FOUND);
}

const isSelection = ({ kind }: Mention): boolean => kind === "selection";
