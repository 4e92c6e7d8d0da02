/** The prompt editor: mentions, commands, pictures, options, send and stop. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import * as messages from "../messages/panel";
import type { Shell } from "../panel/protocol";
import { activityOf, type Session } from "../state/session";
import { dropOn, picturesOf } from "./attachments";
import { post } from "./bridge";
import { Chips, Context } from "./chips";
import { useDraft, type Draft } from "./draft";
import { Menu, optionsFor, wordBefore, type MenuOption, type Word } from "./menu";
import type { Model } from "./model";
import { ComingPickers, Meter, Pickers } from "./pickers";
import { TalkButton } from "./talk_button";

interface Props {
  readonly shell: Shell;
  readonly session: Session | undefined;
  readonly found: Model["found"];
  readonly inserted: Model["inserted"];
  readonly context: Model["context"];
  readonly refill: Model["refill"];
  readonly focused: number;
  /** Another view covers the page; the draft stays. */
  readonly isHidden: boolean;
}

const MAX_HEIGHT_PX = 260;

export function Composer({ shell, session, found, inserted, context, refill, focused, isHidden }: Props) {
  const id = session?.id ?? "";
  const draft = useDraft(id, inserted, refill);
  const [caret, setCaret] = useState(0);
  const [menu, setMenu] = useState<MenuState>({ chosen: 0, isClosed: false });
  const [fault, setFault] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  useFocus(area, focused + inserted.count, isHidden);
  useLayoutEffect(() => grow(area.current), [draft.text]);
  const word = useWord(draft.text, caret);
  const options = menu.isClosed ? [] : optionsFor(word, found, session?.commands ?? []);
  const isWorking = session !== undefined && activityOf(session) !== "idle";
  const write = (text: string) => {
    draft.write(text);
    setMenu({ chosen: 0, isClosed: false });
  };
  const take = (option: MenuOption) => {
    if (!word) return;
    const { text, at } = withOption(draft.text, word, option);
    write(text);
    requestAnimationFrame(() => area.current?.setSelectionRange(at, at));
    setCaret(at);
    if (option.mention && !option.mention.isStart) draft.mention(option.mention);
  };
  const send = () => shell.hasFolder && draft.send();
  const cancel = isWorking ? () => post({ type: "cancel", sessionId: id }) : undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    if (isDone(event, { options, menu, setMenu, take, send, cancel })) event.preventDefault();
  };
  const hint = messages.PROMPT_HINT;
  const field = { area, hint, chosen: menu.chosen, hasMenu: options.length > 0, takesImages: shell.takesImages };
  const bar = { shell, session, isWorking, heard: draft.heard };
  return (
    <div class="composer" hidden={isHidden} {...dropOn(draft, shell.takesImages)}>
      {options.length > 0 && <Menu options={options} chosen={menu.chosen} onTake={take} />}
      <div class="composer-box">
        <Context context={context} />
        <Chips draft={draft} />
        <Field
          {...field}
          draft={draft}
          isWorking={isWorking}
          onWrite={write}
          onCaret={() => setCaret(area.current?.selectionStart ?? 0)}
          onEnter={() => prepare(shell, session)}
          onLeave={() => setMenu({ chosen: 0, isClosed: true })}
          onKeyDown={onKeyDown}
        />
        {fault && <Fault words={fault} />}
        <Bar {...bar} onFault={setFault} canSend={draft.isThere && shell.hasFolder} onSend={send} />
      </div>
    </div>
  );
}

/** Return the word before the caret, and ask for files to mention if it begins with @. */
function useWord(text: string, caret: number): Word | undefined {
  const word = wordBefore(text, caret);
  useEffect(() => {
    if (word?.sign === "@") post({ type: "mentions", query: word.text });
  }, [word?.sign, word?.text]);
  return word;
}

function Fault({ words }: { words: string }) {
  return (
    <p class="composer-fault" role="alert">
      {words}
    </p>
  );
}

/** Return the prompt with an option instead of a word, and the position of the caret, which is after the inserted text. */
function withOption(text: string, { start, end }: Word, { insert, mention }: MenuOption) {
  const put = mention?.isStart ? insert : `${insert} `;
  return { text: text.slice(0, start) + put + text.slice(end), at: start + put.length };
}

/** Start a session for a user who is about to write, because its options are only known then. */
function prepare({ hasFolder, server }: Shell, session: Session | undefined): void {
  if (!session && hasFolder && server !== "failed") post({ type: "prepare" });
}

/** Focus the prompt on request. Merely showing the page does not move the focus. */
function useFocus(area: RefObject<HTMLTextAreaElement | null>, asked: number, isHidden: boolean): void {
  useEffect(() => {
    if (!isHidden && (asked > 0 || document.hasFocus())) area.current?.focus();
  }, [asked, isHidden]);
}

interface Keys {
  readonly options: readonly MenuOption[];
  readonly menu: MenuState;
  readonly setMenu: (menu: MenuState) => void;
  readonly take: (option: MenuOption) => void;
  readonly send: () => void;
  readonly cancel: (() => void) | undefined;
}

interface MenuState {
  readonly chosen: number;
  readonly isClosed: boolean;
}

/** Handle a key, in the open menu or else for the prompt or turn. Return whether it was handled. */
function isDone(event: KeyboardEvent, { options, menu, setMenu, take, send, cancel }: Keys): boolean {
  if (event.isComposing) return false;
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const option = options[menu.chosen];
  if (option && step !== 0) setMenu({ ...menu, chosen: (menu.chosen + step + options.length) % options.length });
  else if (option && (event.key === "Enter" || event.key === "Tab")) take(option);
  else if (options.length > 0 && event.key === "Escape") setMenu({ ...menu, isClosed: true });
  else if (event.key === "Enter" && !event.shiftKey) send();
  else if (event.key === "Escape" && cancel) cancel();
  else return false;
  return true;
}

function grow(element: HTMLTextAreaElement | null): void {
  if (!element) return;
  element.style.height = "auto";
  element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT_PX)}px`;
}

interface FieldProps {
  readonly area: RefObject<HTMLTextAreaElement | null>;
  readonly draft: Draft;
  readonly chosen: number;
  readonly hint: string;
  readonly hasMenu: boolean;
  readonly takesImages: boolean;
  readonly isWorking: boolean;
  readonly onWrite: (text: string) => void;
  readonly onCaret: () => void;
  readonly onEnter: () => void;
  readonly onLeave: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function Field(props: FieldProps) {
  const { area, draft, hasMenu, onCaret } = props;
  return (
    <textarea
      ref={area}
      rows={1}
      value={draft.text}
      placeholder={props.isWorking ? messages.PROMPT_HINT_WORKING : props.hint}
      aria-label={messages.PROMPT}
      aria-haspopup="listbox"
      aria-autocomplete="list"
      aria-controls={hasMenu ? "composer-menu" : undefined}
      aria-activedescendant={hasMenu ? `option-${props.chosen}` : undefined}
      onInput={(event) => {
        onCaret();
        props.onWrite(event.currentTarget.value);
      }}
      onKeyUp={onCaret}
      onClick={onCaret}
      onFocus={props.onEnter}
      onBlur={props.onLeave}
      onKeyDown={props.onKeyDown}
      onPaste={(event) => {
        if (props.takesImages) void picturesOf(event, event.clipboardData).then(draft.addPictures);
      }}
    />
  );
}

interface BarProps {
  readonly shell: Shell;
  readonly session: Session | undefined;
  readonly heard: number;
  readonly onFault: (why: string) => void;
  readonly isWorking: boolean;
  readonly canSend: boolean;
  readonly onSend: () => void;
}

function Bar({ shell, session, heard, onFault, isWorking, canSend, onSend }: BarProps) {
  const stop = () => post({ type: "cancel", sessionId: session?.id ?? "" });
  const word = isWorking ? messages.SEND_WORKING : messages.SEND;
  return (
    <div class="composer-bar">
      {session && session.options.length > 0 ? (
        <Pickers session={session} isTrusted={shell.isTrusted} />
      ) : (
        shell.hasFolder && <ComingPickers />
      )}
      <span class="composer-actions">
        <button
          type="button"
          class="icon-button"
          aria-label={messages.ATTACH}
          title={messages.ATTACH}
          onClick={() => post({ type: "attach" })}
        >
          <i class="codicon codicon-attach" />
        </button>
        {shell.takesSpeech && shell.hasFolder && (
          <TalkButton sessionId={session?.id ?? ""} heard={heard} onFault={onFault} />
        )}
        <Meter usage={session?.usage} />
        {isWorking && (
          <button
            type="button"
            class="icon-button stop"
            aria-label={messages.STOP}
            title={messages.STOP_BY_KEY}
            onClick={stop}
          >
            <i class="codicon codicon-debug-stop" />
          </button>
        )}
        <button
          type="button"
          class="icon-button send"
          aria-label={word}
          title={messages.sendByKey(word)}
          disabled={!canSend}
          onClick={onSend}
        >
          <i class="codicon codicon-arrow-up" />
        </button>
      </span>
    </div>
  );
}
