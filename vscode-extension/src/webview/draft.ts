/** A prompt being written: its text, mentions and pictures, stored by session. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { Mention, Picture } from "../panel/protocol";
import { draftOf, keepDraft, keepMentions, keptMentions, post } from "./bridge";
import { extrasFrom, handOver, mentionsIn, NOTHING, type AllExtras, type Extras } from "./extras";
import type { Model } from "./model";

export interface Draft {
  readonly text: string;
  readonly mentions: readonly Mention[];
  readonly pictures: readonly Picture[];
  /** Whether there is anything to send. */
  readonly isThere: boolean;
  write(text: string): void;
  mention(mention: Mention): void;
  dropMention(at: number): void;
  addPictures(pictures: readonly Picture[]): void;
  dropPicture(at: number): void;
  /** How many recordings have been answered. */
  readonly heard: number;
  send(): void;
}

/** Manage the draft of a session, including inserted and returned content. */
export function useDraft(id: string, inserted: Model["inserted"], refill: Model["refill"]): Draft {
  const [text, setText] = useState(() => draftOf(id));
  const [all, setAll] = useState<AllExtras>(() => extrasFrom(keptMentions()));
  const seen = useRef(0);
  const [heard, setHeard] = useState(0);
  const { mentions, pictures } = all[id] ?? NOTHING;
  const change = (make: (extras: Extras) => Extras) =>
    setAll((before) => ({ ...before, [id]: make(before[id] ?? NOTHING) }));
  const write = (next: string) => {
    setText(next);
    keepDraft(id, next);
  };
  const mention = (one: Mention) => change((each) => ({ ...each, mentions: withMention(each.mentions, one) }));
  useEffect(() => {
    setText(draftOf(id));
    setAll((before) => handOver(before, id));
  }, [id]);
  useEffect(() => keepMentions(mentionsIn(all)), [all]);
  useEffect(() => {
    const fresh = inserted.count - seen.current;
    seen.current = inserted.count;
    let words = text;
    for (const { mention: one, picture, heard: said } of fresh > 0 ? inserted.latest.slice(-fresh) : []) {
      if (said) setHeard((count) => count + 1);
      // A prompt that was begun without a session belongs to the one that is shown now.
      if (said && (said.sessionId === id || said.sessionId === "")) words = withSpeech(words, said.text);
      else if (said) keepDraft(said.sessionId, withSpeech(draftOf(said.sessionId), said.text));
      if (one) mention(one);
      if (picture) change((each) => ({ ...each, pictures: [...each.pictures, picture] }));
    }
    if (words !== text) write(words);
  }, [inserted.count]);
  useEffect(() => {
    if (refill.count === 0 || text) return;
    write(refill.text);
    change(() => ({ mentions: refill.mentions, pictures: refill.pictures }));
  }, [refill.count]);
  const isThere = text.trim() !== "" || pictures.length > 0;
  const send = () => {
    if (!isThere) return;
    const named = mentions.filter((each) => isMeant(each, text));
    post({ type: "prompt", sessionId: id, text: text.trim(), mentions: named, pictures });
    write("");
    change(() => NOTHING);
  };
  return {
    text,
    mentions,
    pictures,
    isThere,
    write,
    mention,
    dropMention: (at) => change((each) => ({ ...each, mentions: each.mentions.toSpliced(at, 1) })),
    addPictures: (more) => change((each) => ({ ...each, pictures: [...each.pictures, ...more] })),
    dropPicture: (at) => change((each) => ({ ...each, pictures: each.pictures.toSpliced(at, 1) })),
    send,
    heard,
  };
}

/** Return a prompt with what was said behind what is written. */
export function withSpeech(text: string, said: string): string {
  if (!said) return text;
  return text === "" || /\s$/.test(text) ? text + said : `${text} ${said}`;
}

/** Content inserted from the editor is always attached; other mentions only while the text names them. */
function isMeant({ kind, token }: Mention, text: string): boolean {
  const isOfEditor = kind === "selection" || kind === "file" || kind === "folder";
  return isOfEditor || text.includes(`@${token}`);
}

function withMention(all: readonly Mention[], mention: Mention): readonly Mention[] {
  return all.some((each) => each.token === mention.token) ? all : [...all, mention];
}
