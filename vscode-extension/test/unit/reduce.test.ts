import { describe, expect, it } from "vitest";

import type { SessionEvent } from "../../src/state/events";
import { reduce } from "../../src/state/reduce";
import { activityOf, emptySession, nameOf, type Session } from "../../src/state/session";
import type { CallItem, Item } from "../../src/state/terms";

const begin = (): Session => emptySession("s", "/p");
const after = (...events: readonly SessionEvent[]): Session => events.reduce(reduce, begin());
const said = (who: "user" | "agent" | "thought", id: string, text: string): SessionEvent => ({
  type: "said",
  who,
  id,
  text,
});
const call = (
  news: Omit<CallItem, "type" | "verdicts" | "content" | "places" | "kind" | "title" | "status"> & Partial<CallItem>,
): SessionEvent => ({ type: "call", call: news });
const texts = ({ items }: Session) => items.map((item: Item) => `${item.type}:${"text" in item ? item.text : item.id}`);
const asked: SessionEvent = {
  type: "asked",
  call: { id: "c", title: "Edit a" },
  requestId: "r",
  options: [{ id: "yes", name: "Yes", kind: "allow_once" }],
};

describe("a question", () => {
  it("keeps why it is asked and whether that is a warning", () => {
    const [item] = after({
      ...asked,
      reason: "Asked because it deletes files: a.",
      isWarning: true,
    } as SessionEvent).items;
    expect(item).toMatchObject({ approval: { reason: "Asked because it deletes files: a.", isWarning: true } });
  });
});

describe("a session folded from what happened", () => {
  it("tells how long a turn took that was joined while it ran", () => {
    const joined = after(
      said("user", "m", "go"),
      { type: "dated", messageId: "m", at: 1000 },
      { type: "begun", id: "t" },
    );
    expect(joined.beganAt).toBe(1000);
    const ended = reduce(joined, { type: "ended", id: "t", reason: "end_turn", text: "", at: 4000 });
    expect(ended.items.at(-1)).toMatchObject({ type: "end", tookMs: 3000 });
  });

  it("joins words of one message and goes on behind what came between", () => {
    const session = after(
      said("agent", "m", "one "),
      said("agent", "m", "two"),
      call({ id: "c" }),
      said("agent", "m", " three"),
    );
    expect(texts(session)).toEqual(["agent:one two", "call:c", "agent: three"]);
  });

  it("merges a card's news and keeps what they leave out", () => {
    const session = after(
      call({ id: "c", title: "Edit a", kind: "edit", status: "pending" }),
      call({ id: "c", status: "completed" }),
    );
    expect(session.items[0]).toMatchObject({ title: "Edit a", kind: "edit", status: "completed" });
  });

  it("knows of a past no what its user said", () => {
    const session = after(
      call({ id: "c", title: "Edit a", kind: "edit", status: "pending" }),
      call({
        id: "c",
        status: "failed",
        content: [{ type: "text", text: "The user refused this." }],
        rejected: "why not",
      }),
    );
    expect(session.items[0]).toMatchObject({ status: "failed", rejected: "why not" });
    const whole = after(call({ id: "c", status: "failed", rejected: "" }));
    expect(whole.items[0]).toMatchObject({ rejected: "" });
  });

  it("asks until it is answered, and only the question it was", () => {
    const session = after({ type: "begun", id: "t" }, asked);
    expect(activityOf(session)).toBe("asking");
    const other = reduce(session, { type: "answered", callId: "c", requestId: "another", answer: "yes" });
    expect(activityOf(other)).toBe("asking");
    expect(activityOf(reduce(session, { type: "answered", callId: "c", requestId: "r", answer: "yes" }))).toBe(
      "working",
    );
  });

  it("leaves nothing open when the turn is over", () => {
    const session = after({ type: "begun", id: "t" }, asked, { type: "lost", id: "l", text: "gone" });
    expect(session.items[0]).toMatchObject({ status: "failed", approval: { answer: "" } });
    expect(activityOf(session)).toBe("idle");
    expect(session.items.at(-1)).toMatchObject({ type: "end", reason: "lost" });
  });

  it("keeps what a turn left of its plan where the turn ended, and begins the next without", () => {
    const entries = [
      { content: "Look", status: "completed" as const },
      { content: "Mend", status: "in_progress" as const },
    ];
    const ended = (id: string): SessionEvent => ({ type: "ended", id, reason: "end_turn", text: "" });
    const left = after({ type: "begun", id: "t" }, { type: "plan", entries }, ended("t"));
    expect(left.plan).toEqual([]);
    expect(left.items.at(-1)).toMatchObject({ type: "end", plan: entries });
    const done = entries.map(({ content }) => ({ content, status: "completed" as const }));
    const whole = after({ type: "begun", id: "t" }, { type: "plan", entries: done }, ended("t"));
    expect(whole.items.at(-1)).not.toHaveProperty("plan");
    const replayed = after({ type: "plan", entries }, { type: "begun", id: "t" });
    expect(replayed.plan).toEqual([]);
  });

  it("keeps the plan while another prompt waits", () => {
    const entries = [{ content: "Mend", status: "in_progress" as const }];
    const session = after({ type: "begun", id: "a" }, { type: "plan", entries }, { type: "begun", id: "b" });
    expect(session.plan).toEqual(entries);
    const next = reduce(session, { type: "ended", id: "a", reason: "end_turn", text: "" });
    expect(next.plan).toEqual(entries);
  });

  it("keeps what was said to a question beside its answer", () => {
    const answered = { type: "answered" as const, callId: "c", requestId: "r", answer: "no", comment: "not now" };
    expect(after(asked, answered).items[0]).toMatchObject({ approval: { answer: "no", comment: "not now" } });
  });

  it("lets the next prompt in line begin when one ends", () => {
    const prompted = (id: string, isWaiting: boolean): SessionEvent => ({
      type: "prompted",
      id,
      text: id,
      attachments: [],
      isWaiting,
    });
    const session = after(prompted("a", false), { type: "begun", id: "a" }, prompted("b", true), {
      type: "begun",
      id: "b",
    });
    const next = reduce(session, { type: "ended", id: "a", reason: "end_turn", text: "" });
    expect(next.turns).toEqual(["b"]);
    expect(next.items[1]).toMatchObject({ id: "b", isWaiting: false });
  });

  it("keeps a card's diff as it was judged, whatever was written of it", () => {
    const diff = (newText: string) => ({ type: "diff" as const, diff: { path: "/p/a", oldText: "1", newText } });
    const judged: SessionEvent = { type: "judged", callId: "c", path: "/p/a", verdicts: ["accepted", "rejected"] };
    const session = after(call({ id: "c", content: [diff("2")] }), judged, call({ id: "c", content: [diff("3")] }));
    expect((session.items[0] as CallItem).content).toEqual([diff("2")]);
  });

  it("keeps the end of a terminal's output", () => {
    const output = (text: string): SessionEvent => ({ type: "output", terminalId: "t", text });
    const session = after(output("a".repeat(70_000)), output("end"), { type: "exited", terminalId: "t", exitCode: 3 });
    expect(session.terminals["t"]?.output.endsWith("end")).toBe(true);
    expect(session.terminals["t"]?.output.length).toBeLessThan(70_000);
    expect(session.terminals["t"]?.exitCode).toBe(3);
  });

  it("changes nothing of the state before", () => {
    const before = after(said("agent", "m", "one"));
    const copy = structuredClone(before);
    reduce(before, said("agent", "m", " two"));
    expect(before).toEqual(copy);
  });

  it("is named by its title, else by its first prompt", () => {
    const session = after(said("user", "u", "Fix the bug\nplease"));
    expect(nameOf(session)).toBe("Fix the bug");
    expect(nameOf(reduce(session, { type: "title", title: "Bug fix" }))).toBe("Bug fix");
  });

  it("keeps child agents as cards, with what they do and say last", () => {
    const session = after(
      { type: "child", id: "k", title: "Look for tests", state: "running" },
      { type: "childSaid", id: "k", text: "I look. " },
      { type: "childCall", id: "k", call: { id: "c", title: "Search tests", kind: "search", status: "pending" } },
      { type: "childCall", id: "k", call: { id: "c", status: "completed" } },
      { type: "childSaid", id: "k", text: "There are " },
      { type: "childSaid", id: "k", text: "two." },
      { type: "child", id: "k", state: "done" },
    );
    expect(session.items).toEqual([
      {
        type: "child",
        id: "k",
        title: "Look for tests",
        state: "done",
        error: "",
        calls: [{ id: "c", title: "Search tests", kind: "search", status: "completed" }],
        text: "There are two.",
      },
    ]);
  });

  it("lets no child agent outlive its turn", () => {
    const session = after(
      { type: "begun", id: "t" },
      { type: "child", id: "k", title: "Work", state: "asking" },
      { type: "lost", id: "l", text: "gone" },
    );
    expect(session.items[0]).toMatchObject({ type: "child", state: "cancelled" });
  });
});
