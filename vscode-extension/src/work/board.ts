/** A board: its cards, the open card, and the user's actions. */

import type { Link } from "../acp/link";
import { ask } from "../acp/methods";
import type {
  BoardAddParams,
  BoardChangedParams,
  BoardDiffResult,
  BoardEditParams,
  BoardListCard,
  BoardListResult,
  BoardShowResult,
} from "../acp/own";
import { Served } from "./served";

export type CardState = BoardListCard["state"];
/** An action by a click, or with a text. */
export type Deed = "approve" | "sendBack" | "park" | "comment" | "remove";

export interface BoardShown {
  /** The board's own data, or undefined until it is loaded. */
  readonly board: Omit<BoardListResult, "cards" | "removed"> | undefined;
  readonly cards: readonly BoardListCard[];
  /** The open card, or empty for the board. */
  readonly open: string;
  readonly details: BoardShowResult | undefined;
  readonly diff: BoardDiffResult | undefined;
  /** Counts completed actions, after which forms are reset. */
  readonly done: number;
  readonly problem: string;
}

export type BoardAction =
  | { readonly type: "choose"; readonly board: string }
  | { readonly type: "look"; readonly id: string }
  | { readonly type: "diff" }
  | { readonly type: "add"; readonly wish: BoardAddParams }
  | { readonly type: "edit"; readonly wish: BoardEditParams }
  | { readonly type: "move"; readonly id: string; readonly to: CardState }
  | { readonly type: "deed"; readonly deed: Deed; readonly id: string; readonly text: string }
  | {
      readonly type: "link";
      readonly id: string;
      readonly kind: "blocks" | "parent" | "found_in";
      readonly cardId: string;
      readonly isRemoved: boolean;
    }
  | {
      readonly type: "answer";
      readonly id: string;
      readonly callId: string;
      readonly isAllowed: boolean;
      readonly text: string;
    }
  | { readonly type: "openSession"; readonly sessionId: string; readonly cwd: string };

const NOTHING: BoardShown = {
  board: undefined,
  cards: [],
  open: "",
  details: undefined,
  diff: undefined,
  done: 0,
  problem: "",
};
const DEFAULT = "default";

export class Board extends Served<BoardShown> {
  /** Open the session of a card. */
  onSession: (sessionId: string, cwd: string) => void = () => undefined;
  private name = DEFAULT;
  private cursor = 0;
  private watch: AbortController | undefined;
  /** How many pages show the board. */
  private followers = 0;

  constructor() {
    super("board", NOTHING);
  }

  override adopt(link: Link): void {
    super.adopt(link);
    this.cursor = 0;
    if (this.followers > 0) void this.begin();
  }

  /** Follow the board. Call the result to stop. */
  follow(): () => void {
    this.followers += 1;
    this.change({ open: "", details: undefined, diff: undefined, problem: "" });
    void this.begin();
    return () => {
      this.followers -= 1;
      if (this.followers === 0) this.watch?.abort();
    };
  }

  /** Handle a notification that a board has changed. */
  noteChange({ board, cursor }: BoardChangedParams): void {
    if (board === this.name && cursor > this.cursor) void this.refresh();
  }

  async act(action: BoardAction): Promise<void> {
    const board = this.name;
    switch (action.type) {
      case "choose":
        this.name = action.board;
        this.change({ ...NOTHING });
        return this.begin();
      case "look":
        this.change({ open: action.id, details: undefined, diff: undefined, problem: "" });
        return this.lookAtCard();
      case "diff":
        return this.lookAtDiff();
      case "openSession":
        return this.onSession(action.sessionId, action.cwd);
      case "add":
        return this.then(async (link) => void (await ask(link, "_hermes/board/add", { ...action.wish, board })));
      case "edit":
        return this.then(async (link) => void (await ask(link, "_hermes/board/edit", { ...action.wish, board })));
      case "move": {
        const { id, to } = action;
        return this.then(async (link) => void (await ask(link, "_hermes/board/move", { board, id, to })));
      }
      case "link": {
        const { type: _, ...params } = action;
        return this.then(async (link) => void (await ask(link, "_hermes/board/link", { board, ...params })));
      }
      case "answer": {
        const { type: _, ...params } = action;
        return this.then(async (link) => void (await ask(link, "_hermes/board/answer", { board, ...params })));
      }
      case "deed":
        return this.then((link) => this.doDeed(link, action.deed, action.id, action.text));
    }
  }

  private async doDeed(link: Link, deed: Deed, id: string, text: string): Promise<void> {
    const board = this.name;
    switch (deed) {
      case "approve":
        return void (await ask(link, "_hermes/board/approve", { board, id, comment: text }));
      case "sendBack":
        return void (await ask(link, "_hermes/board/send_back", { board, id, words: text }));
      case "park":
        return void (await ask(link, "_hermes/board/park", { board, id, reason: text }));
      case "comment":
        return void (await ask(link, "_hermes/board/comment", { board, id, text }));
      case "remove":
        await ask(link, "_hermes/board/remove", { board, id });
        this.change({ open: "", details: undefined, diff: undefined });
    }
  }

  /** Perform an action and refresh. */
  private async then(work: (link: Link) => Promise<void>): Promise<void> {
    if (!(await this.work(work))) return;
    this.change({ done: this.shown.value.done + 1 });
    await this.refresh();
  }

  /** Load the whole board, and watch for changes. */
  private async begin(): Promise<void> {
    this.watch?.abort();
    const watch = (this.watch = new AbortController());
    this.cursor = 0;
    await this.refresh();
    if (watch.signal.aborted) return;
    await this.look(async (link) => {
      const params = { board: this.name, after: this.cursor };
      // It ends with the connection or when cancelled, neither of which is a problem.
      void link.agent
        .request("_hermes/board/watch", params, { cancellationSignal: watch.signal })
        .catch(() => undefined);
      await Promise.resolve();
    });
  }

  private async refresh(): Promise<void> {
    await this.look(async (link) => {
      const { name, cursor } = this;
      const { cards, removed, ...board } = await ask(link, "_hermes/board/list", { board: name, after: cursor });
      if (this.name !== name || board.cursor < this.cursor) return;
      this.cursor = board.cursor;
      const gone = new Set([...removed, ...cards.map(({ id }) => id)]);
      const kept = cursor === 0 ? [] : this.shown.value.cards.filter(({ id }) => !gone.has(id));
      this.change({ board, cards: [...kept, ...cards].sort(inOrder) });
    });
    if (this.shown.value.open) await this.lookAtCard();
  }

  private async lookAtCard(): Promise<void> {
    const { open, details } = this.shown.value;
    if (!open) return;
    await this.look(async (link) => {
      const found = await ask(link, "_hermes/board/show", { board: this.name, id: open });
      // Redrawing would lose an answer that is being written.
      if (this.shown.value.open === open && JSON.stringify(found) !== JSON.stringify(details))
        this.change({ details: found });
    });
  }

  private async lookAtDiff(): Promise<void> {
    const { open } = this.shown.value;
    await this.work(async (link) => {
      const diff = await ask(link, "_hermes/board/diff", { board: this.name, id: open });
      if (this.shown.value.open === open) this.change({ diff });
    });
  }
}

/** By priority, then by age. */
function inOrder(one: BoardListCard, other: BoardListCard): number {
  return one.priority - other.priority || Number(one.id) - Number(other.id);
}
