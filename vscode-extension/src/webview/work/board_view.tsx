/** A board: its cards in columns by state, or one card in full. */

import { useState } from "preact/hooks";

import type { BoardListCard } from "../../acp/own";
import * as messages from "../../messages/board";
import { facts } from "../../messages/work";
import type { BoardAction, BoardShown, CardState } from "../../work/board";
import { split } from "../paths";
import { CardForm } from "./card_form";
import { CardView } from "./card_view";
import { ChoiceField } from "./fields";
import { Problem } from "./problem";

const COLUMNS = Object.keys(messages.STATES) as readonly CardState[];
/** The maximum cards shown in a column until the user asks for more. */
const MAX_SHOWN = 50;

interface Props {
  readonly shown: BoardShown;
  readonly act: (action: BoardAction) => void;
  readonly folder: string;
}

export function BoardView({ shown, act, folder }: Props) {
  const { board, cards, open, problem, done } = shown;
  const card = cards.find(({ id }) => id === open);
  return (
    <div class="work">
      <Problem text={problem} note={board?.halted ?? ""} />
      {!board && !problem && <p class="work-note">{messages.LOADING}</p>}
      {board && card && <CardView key={card.id} card={card} shown={shown} act={act} />}
      {board && !card && (
        <>
          <Head shown={shown} act={act} />
          {cards.length === 0 && <p class="work-note">{messages.NO_CARDS}</p>}
          <Columns cards={cards} act={act} />
          <details class="board-add">
            <summary>{messages.ADD_CARD}</summary>
            <CardForm key={done} folder={folder} onSave={(wish) => act({ type: "add", wish })} />
          </details>
        </>
      )}
    </div>
  );
}

function Head({ shown, act }: Omit<Props, "folder">) {
  const { board } = shown;
  if (!board) return null;
  const spent = facts(messages.spentOf(board.costUsd, board.maxCostUsd), messages.tokens(board.tokens));
  return (
    <div class="board-head">
      {board.boards.length > 1 && (
        <ChoiceField
          label={messages.BOARD}
          value={board.board}
          choices={Object.fromEntries(board.boards.map((name) => [name, name]))}
          onChoice={(name) => act({ type: "choose", board: name })}
        />
      )}
      {spent && <p class="work-facts">{spent}</p>}
    </div>
  );
}

function Columns({ cards, act }: { cards: readonly BoardListCard[]; act: Props["act"] }) {
  const isDone = new Set(cards.filter(({ state }) => state === "done").map(({ id }) => id));
  return (
    <div class="board-columns" onKeyDown={onArrow}>
      {COLUMNS.map((state) => (
        <Column
          key={state}
          state={state}
          cards={cards.filter((card) => card.state === state)}
          isDone={isDone}
          act={act}
        />
      ))}
    </div>
  );
}

interface ColumnProps {
  readonly state: CardState;
  readonly cards: readonly BoardListCard[];
  readonly isDone: ReadonlySet<string>;
  readonly act: Props["act"];
}

function Column({ state, cards, isDone, act }: ColumnProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? cards : cards.slice(0, MAX_SHOWN);
  const name = messages.columnTitle(messages.STATES[state], cards.length);
  return (
    <section class={`board-column ${state} ${cards.length === 0 ? "empty" : ""}`} aria-label={messages.STATES[state]}>
      <h2>{name}</h2>
      <ul>
        {shown.map((card) => (
          <li key={card.id}>
            <CardButton card={card} isDone={isDone} onOpen={() => act({ type: "look", id: card.id })} />
          </li>
        ))}
      </ul>
      {shown.length < cards.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {messages.showAll(cards.length)}
        </button>
      )}
    </section>
  );
}

interface CardButtonProps {
  readonly card: BoardListCard;
  readonly isDone: ReadonlySet<string>;
  readonly onOpen: () => void;
}

function CardButton({ card, isDone, onOpen }: CardButtonProps) {
  const { id, title, state, reason, waitsFor, isQueued, priority, comments, costUsd, folder } = card;
  const waits = waitsFor.filter((each) => !isDone.has(each));
  return (
    <button type="button" class="board-card" onClick={onOpen}>
      <span class="board-title">{title}</span>
      {reason && <span class={`work-facts board-reason ${state}`}>{reason}</span>}
      <span class="work-facts">
        {facts(
          messages.cardNumber(id),
          messages.priority(priority),
          state === "done" ? "" : messages.waitsFor(waits),
          isQueued ? messages.QUEUED : "",
          messages.commentCount(comments),
          messages.cost(costUsd),
          split(folder).name,
        )}
      </span>
    </button>
  );
}

/** Move between cards and columns with the arrow keys. */
function onArrow(event: KeyboardEvent): void {
  const card = (event.target as HTMLElement).closest<HTMLElement>(".board-card");
  const item = card?.closest("li");
  const column = card?.closest(".board-column");
  if (!card || !item || !column) return;
  const at = [...(item.parentElement?.children ?? [])].indexOf(item);
  const next = nextCard(event.key, item, column, at);
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function nextCard(key: string, item: Element, column: Element, at: number): HTMLElement | null | undefined {
  if (key === "ArrowDown") return item.nextElementSibling?.querySelector<HTMLElement>(".board-card");
  if (key === "ArrowUp") return item.previousElementSibling?.querySelector<HTMLElement>(".board-card");
  if (key !== "ArrowRight" && key !== "ArrowLeft") return undefined;
  const step = (from: Element) => (key === "ArrowRight" ? from.nextElementSibling : from.previousElementSibling);
  for (let other = step(column); other; other = step(other)) {
    const cards = other.querySelectorAll<HTMLElement>(".board-card");
    if (cards.length > 0) return cards[Math.min(at, cards.length - 1)];
  }
  return undefined;
}
