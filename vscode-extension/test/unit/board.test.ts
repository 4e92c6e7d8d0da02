import { describe, expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import type { BoardListCard, BoardListResult } from "../../src/acp/own";
import { Board } from "../../src/work/board";

function card(id: string, changes: Partial<BoardListCard> = {}): BoardListCard {
  return {
    id,
    title: `Card ${id}`,
    state: "inbox",
    reason: "",
    waitsFor: [],
    isQueued: false,
    priority: 3,
    folder: "/project",
    branch: "",
    comments: 0,
    costUsd: 0,
    sessionId: "",
    updatedAt: "",
    ...changes,
  };
}

function listing(cursor: number, cards: readonly BoardListCard[], removed: readonly string[] = []): BoardListResult {
  const limits = { maxTokens: null, maxCostUsd: null, maxRunning: null };
  const board = { boards: ["default"], board: "default", halted: "", tokens: 0, costUsd: 0, ...limits };
  return { ...board, cursor, cards, removed };
}

/** A server with one board; the requests are recorded. */
class Server {
  readonly asked: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[] = [];
  readonly answers: BoardListResult[] = [];
  watch: AbortSignal | undefined;
  refusal = "";
  readonly link = {
    agent: {
      request: (method: string, params: Record<string, unknown>, options?: { cancellationSignal: AbortSignal }) => {
        this.asked.push({ method, params });
        if (method === "_hermes/board/watch") {
          this.watch = options?.cancellationSignal;
          return new Promise(() => undefined);
        }
        if (method === "_hermes/board/list") return Promise.resolve(this.answers.shift());
        return this.refusal ? Promise.reject(new Error(this.refusal)) : Promise.resolve({ cursor: 0 });
      },
    },
    greeting: { agentCapabilities: { _meta: { hermes: { board: true } } } },
  } as unknown as Link;

  times(method: string): number {
    return this.asked.filter((each) => each.method === method).length;
  }
}

async function settled(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200 && !isSo(); turn += 1) await Promise.resolve();
  expect(isSo()).toBe(true);
}

describe("a board", () => {
  it("takes changes after what it knows, and drops what was removed", async () => {
    const server = new Server();
    const board = new Board();
    board.adopt(server.link);
    server.answers.push(listing(3, [card("1"), card("2"), card("3", { priority: 1 })]));
    const leave = board.follow();
    await settled(() => server.watch !== undefined);
    expect(board.shown.value.cards.map(({ id }) => id)).toEqual(["3", "1", "2"]);
    server.answers.push(listing(5, [card("2", { state: "done" })], ["1"]));
    board.noteChange({ board: "default", cursor: 5 });
    await settled(() => board.shown.value.board?.cursor === 5);
    expect(server.asked.at(-1)?.params).toEqual({ board: "default", after: 3 });
    expect(board.shown.value.cards.map(({ id, state }) => [id, state])).toEqual([
      ["3", "inbox"],
      ["2", "done"],
    ]);
    board.noteChange({ board: "other", cursor: 9 });
    board.noteChange({ board: "default", cursor: 5 });
    expect(server.times("_hermes/board/list")).toBe(2);
    leave();
    expect(server.watch?.aborted).toBe(true);
  });

  it("looks at everything again over a new connection, and only while somebody looks", async () => {
    const [first, second, third] = [new Server(), new Server(), new Server()];
    const board = new Board();
    board.adopt(first.link);
    first.answers.push(listing(3, [card("1")]));
    const leave = board.follow();
    await settled(() => first.watch !== undefined);
    second.answers.push(listing(1, [card("9")]));
    board.adopt(second.link);
    await settled(() => second.watch !== undefined);
    expect(board.shown.value.cards.map(({ id }) => id)).toEqual(["9"]);
    leave();
    board.adopt(third.link);
    expect(third.asked).toEqual([]);
  });

  it("shows why something was refused until the next attempt", async () => {
    const server = new Server();
    const board = new Board();
    board.adopt(server.link);
    server.answers.push(listing(1, [card("1")]), listing(1, []));
    const leave = board.follow();
    await settled(() => server.watch !== undefined);
    server.refusal = "Card 1 is running.";
    await board.act({ type: "move", id: "1", to: "done" });
    expect(board.shown.value.problem).toContain("Card 1 is running.");
    expect(board.shown.value.done).toBe(0);
    server.refusal = "";
    await board.act({ type: "deed", deed: "sendBack", id: "1", text: "Again." });
    expect(server.asked.at(-2)).toEqual({
      method: "_hermes/board/send_back",
      params: { board: "default", id: "1", words: "Again." },
    });
    expect(board.shown.value).toMatchObject({ problem: "", done: 1 });
    leave();
  });
});
