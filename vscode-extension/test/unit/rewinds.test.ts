import { describe, expect, it } from "vitest";

import type { Rewind } from "../../src/acp/conversations";
import { Rewinds } from "../../src/panel/rewinds";
import { Store } from "../../src/state/store";

class Scene {
  readonly store = new Store();
  readonly done: string[] = [];
  /** The answer to undoing a checkpoint; undefined if the user wants the files to stay. */
  readonly answers: Record<string, string | undefined> = { c1: "u1", c2: "u2" };
  readonly rewinds = new Rewinds(
    {
      store: this.store,
      conversations: {
        fork: (id: string, _: string, rewind?: Rewind) => {
          this.note(`fork ${id} before ${rewind?.messageId}`);
          this.store.open("fork", "/p");
          if (rewind)
            this.store.dispatch("fork", { type: "forked", sources: [id], rewound: { from: id, undos: rewind.undos } });
          return Promise.resolve("fork");
        },
        open: (id: string) => this.note(`open ${id}`),
        close: (id: string) => this.note(`close ${id}`),
        delete: (id: string) => this.note(`delete ${id}`),
      },
      checkpoints: {
        restore: async (sessionId: string, id: string) => {
          await this.note(`restore ${sessionId} ${id}`);
          return id in this.answers ? this.answers[id] : `again ${id}`;
        },
      },
    },
    (id) => void this.note(`select ${id}`),
  );

  constructor() {
    this.store.open("s", "/p");
    for (const number of [1, 2]) {
      const id = `t${number}`;
      const checkpoint = { id: `c${number}`, files: [{ path: `/p/${number}`, change: "modified" }], isRestored: false };
      this.store.dispatch(
        "s",
        { type: "prompted", id, text: `do ${number}`, attachments: [], isWaiting: false },
        { type: "begun", id },
        { type: "recorded", messageId: `m${number}` },
        { type: "ended", id, reason: "end_turn", text: "" },
        { type: "checkpoint", endId: id, checkpoint },
      );
    }
  }

  private note(what: string): Promise<void> {
    this.done.push(what);
    return Promise.resolve();
  }
}

describe("a rewind", () => {
  it("of the conversation leaves the files and gives the prompt back", async () => {
    const scene = new Scene();
    const refill = await scene.rewinds.rewind("s", "t2", false);
    expect(refill).toMatchObject({ type: "refill", text: "do 2" });
    expect(scene.done).toEqual(["fork s before m2", "close s", "select fork"]);
  });

  it("of the files too undoes the later turns, the last one first, and can be undone", async () => {
    const scene = new Scene();
    await scene.rewinds.rewind("s", "t1", true);
    expect(scene.done.slice(0, 3)).toEqual(["restore s c2", "restore s c1", "fork s before m1"]);
    scene.done.length = 0;
    await scene.rewinds.undo("fork");
    expect(scene.done).toEqual(["open s", "restore s u1", "restore s u2", "select s", "delete fork", "select s"]);
  });

  it("does nothing where a file that others changed is to stay", async () => {
    const scene = new Scene();
    scene.answers["c1"] = undefined;
    expect(await scene.rewinds.rewind("s", "t1", true)).toBeUndefined();
    expect(scene.done).toEqual(["restore s c2", "restore s c1", "restore s u2"]);
  });

  it("waits for the end of the turn, and knows only prompts that the agent recorded", async () => {
    const scene = new Scene();
    scene.store.dispatch("s", { type: "begun", id: "t3" });
    await scene.rewinds.rewind("s", "t1", false);
    expect(scene.done).toEqual([]);
  });

  it("can be undone until something else is said", () => {
    const scene = new Scene();
    scene.store.dispatch("s", { type: "forked", sources: ["r"], rewound: { from: "r", undos: [] } });
    expect(scene.store.get("s")?.rewound?.from).toBe("r");
    scene.store.dispatch("s", { type: "begun", id: "t3" });
    expect(scene.store.get("s")).not.toHaveProperty("rewound");
  });
});
