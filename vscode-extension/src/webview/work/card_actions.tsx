/** The actions on a card in its state, with or without a text. */

import { useState } from "preact/hooks";

import type { BoardListCard } from "../../acp/own";
import * as messages from "../../messages/board";
import type { BoardAction, CardState, Deed } from "../../work/board";
import { AreaField } from "./fields";

interface Props {
  readonly card: BoardListCard;
  readonly act: (action: BoardAction) => void;
}

/** The states to which a person can move a card with one click. */
const MOVES: Readonly<Record<CardState, readonly (readonly [to: CardState, words: string])[]>> = {
  inbox: [
    ["ready", messages.START],
    ["done", messages.MARK_DONE],
  ],
  ready: [["inbox", messages.TO_INBOX]],
  running: [],
  input_required: [],
  review: [],
  merging: [],
  done: [["inbox", messages.TO_INBOX]],
  parked: [
    ["ready", messages.START],
    ["inbox", messages.TO_INBOX],
    ["done", messages.MARK_DONE],
  ],
};
const BUSY: readonly CardState[] = ["running", "input_required", "merging"];
const PARKED_FROM: readonly CardState[] = ["ready", "running", "input_required", "review", "merging"];

export function CardActions({ card, act }: Props) {
  const { id, title, state } = card;
  const [text, setText] = useState("");
  const [isRemoving, setRemoving] = useState(false);
  const words = text.trim();
  const deed = (one: Deed) => act({ type: "deed", deed: one, id, text: words });
  if (isRemoving) {
    return (
      <div class="work-confirm" role="group" aria-label={messages.removeCard(title)}>
        <p>{messages.removeCard(title)}</p>
        <Button name={messages.REMOVE} isPrimary onClick={() => deed("remove")} />
        <Button name={messages.KEEP} onClick={() => setRemoving(false)} />
      </div>
    );
  }
  return (
    <>
      <AreaField label={`${messages.WORDS}. ${messages.WORDS_HINT}`} rows={2} value={text} onText={setText} />
      <div class="work-actions">
        {state === "review" && (
          <>
            <Button name={messages.APPROVE} isPrimary onClick={() => deed("approve")} />
            <Button name={messages.SEND_BACK} isOff={!words} onClick={() => deed("sendBack")} />
          </>
        )}
        {MOVES[state].map(([to, name]) => (
          <Button key={to} name={name} isPrimary={to === "ready"} onClick={() => act({ type: "move", id, to })} />
        ))}
        {PARKED_FROM.includes(state) && <Button name={messages.PARK} onClick={() => deed("park")} />}
        <Button name={messages.COMMENT} isOff={!words} onClick={() => deed("comment")} />
        {!BUSY.includes(state) && <Button name={messages.REMOVE} onClick={() => setRemoving(true)} />}
      </div>
    </>
  );
}

interface ButtonProps {
  readonly name: string;
  readonly isPrimary?: boolean;
  readonly isOff?: boolean;
  readonly onClick: () => void;
}

function Button({ name, isPrimary = false, isOff = false, onClick }: ButtonProps) {
  return (
    <button type="button" class={`button ${isPrimary ? "primary" : "quiet"}`} disabled={isOff} onClick={onClick}>
      {name}
    </button>
  );
}
