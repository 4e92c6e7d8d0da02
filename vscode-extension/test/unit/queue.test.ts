import { describe, expect, it } from "vitest";

import { PromptQueue } from "../../src/panel/prompt_queue";
import { restoreSessions, saveSessions } from "../../src/state/saved_sessions";
import { Store } from "../../src/state/store";
import type { Option, QueuedPrompt } from "../../src/state/terms";

const plain = (text: string) => ({ text, mentions: [], pictures: [] });
const steering: Option = {
  type: "select",
  id: "during_turn",
  name: "Messages while working",
  category: "",
  value: "steer",
  choices: [],
};

class Scene {
  readonly store = new Store();
  readonly sent: string[] = [];
  readonly errors: unknown[] = [];
  refuses = false;
  readonly queue = new PromptQueue(
    this.store,
    (_, prompt, steers) => this.send(prompt, steers),
    (error) => this.errors.push(error),
  );

  constructor() {
    this.store.open("s", "/p");
    this.begin("t1");
  }

  private send({ text }: QueuedPrompt, steers: boolean): Promise<void> {
    if (this.refuses) return Promise.reject(new Error("gone"));
    this.sent.push(steers ? `${text} (at once)` : text);
    return Promise.resolve();
  }

  begin(id: string): void {
    this.store.dispatch("s", { type: "begun", id });
  }

  async end(id: string, reason = "end_turn"): Promise<void> {
    this.store.dispatch("s", { type: "ended", id, reason, text: "" });
    await Promise.resolve();
  }

  get texts(): readonly string[] {
    return this.store.get("s")?.queue.map(({ text }) => text) ?? [];
  }

  idOf(text: string): string {
    return this.store.get("s")?.queue.find((each) => each.text === text)?.id ?? "";
  }
}

describe("messages that wait for the running turn", () => {
  it("are sent one by one, each when the turn before it is over", async () => {
    const scene = new Scene();
    expect(["one", "two"].map((text) => scene.queue.take("s", plain(text)))).toEqual([true, true]);
    expect(scene.store.get("s")?.items).toEqual([]);
    await scene.end("t1");
    expect([scene.sent, scene.texts]).toEqual([["one"], ["two"]]);
    scene.begin("t2");
    await scene.end("t2");
    expect([scene.sent, scene.texts]).toEqual([["one", "two"], []]);
  });

  it("can be changed, removed and put in another order", () => {
    const scene = new Scene();
    for (const text of ["one", "two", "three"]) scene.queue.take("s", plain(text));
    const change = (action: "up" | "down" | "remove", text: string) =>
      scene.queue.change({ type: "queue", action, sessionId: "s", id: scene.idOf(text) });
    change("up", "three");
    change("up", "one");
    expect(scene.texts).toEqual(["one", "three", "two"]);
    change("down", "one");
    scene.queue.change({ type: "reword", sessionId: "s", id: scene.idOf("two"), text: "2" });
    change("remove", "one");
    expect(scene.texts).toEqual(["three", "2"]);
  });

  it("stay where they are after a stop, until one of them is sent", async () => {
    const scene = new Scene();
    for (const text of ["one", "two"]) scene.queue.take("s", plain(text));
    await scene.end("t1", "cancelled");
    scene.begin("t2");
    await scene.end("t2");
    expect([scene.sent, scene.texts]).toEqual([[], ["one", "two"]]);
    scene.queue.change({ type: "queue", action: "send", sessionId: "s", id: scene.idOf("two") });
    scene.begin("t3");
    await scene.end("t3");
    expect(scene.sent).toEqual(["two", "one"]);
  });

  it("join the turn at once where that is asked for", () => {
    const scene = new Scene();
    scene.queue.take("s", plain("now"));
    scene.queue.change({ type: "queue", action: "send", sessionId: "s", id: scene.idOf("now") });
    expect(scene.sent).toEqual(["now (at once)"]);
    scene.store.dispatch("s", { type: "options", options: [steering] });
    expect(scene.queue.take("s", plain("steers"))).toBe(false);
  });

  it("are back when they could not be sent", async () => {
    const scene = new Scene();
    scene.queue.take("s", plain("one"));
    scene.refuses = true;
    await scene.end("t1");
    await Promise.resolve();
    await Promise.resolve();
    expect([scene.texts, scene.errors.length]).toEqual([["one"], 1]);
  });

  it("survive a reload of the window, and are sent by nobody then", () => {
    const scene = new Scene();
    scene.queue.take("s", plain("one"));
    const [session] = restoreSessions(saveSessions("s", scene.store.all())).sessions;
    expect(session).toMatchObject({ queue: [{ text: "one" }], isHeld: true, turns: [] });
  });

  it("do not make a stop be told twice", async () => {
    const scene = new Scene();
    scene.begin("t2");
    await scene.end("t1", "cancelled");
    await scene.end("t2", "cancelled");
    expect(scene.store.get("s")?.items.map(({ type }) => type)).toEqual(["end"]);
  });
});
