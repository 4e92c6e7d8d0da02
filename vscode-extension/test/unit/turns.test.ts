import { describe, expect, it } from "vitest";

import { toEvents } from "../../src/acp/translate";
import type { SessionEvent } from "../../src/state/events";
import { distinctNames } from "../../src/state/names";
import { reduce } from "../../src/state/reduce";
import { emptySession, type Session } from "../../src/state/session";
import type { CallStatus } from "../../src/state/terms";

const after = (...events: readonly SessionEvent[]): Session => events.reduce(reduce, emptySession("s", "/p"));
const said = (id: string, text: string): SessionEvent => ({ type: "said", who: "agent", id, text });
const failed = (messageId: string): SessionEvent => ({ type: "stepFailed", messageId, isRetried: true });
const notice = (id: string): SessionEvent => ({ type: "notice", id, severity: "warning", text: `notice ${id}` });
const shown = ({ items }: Session) => items.map((item) => ("text" in item && item.text ? item.text : item.type));
const begun: SessionEvent = { type: "begun", id: "t", at: 1000 };
const ended = (reason: string): SessionEvent => ({ type: "ended", id: "t", reason, text: "", at: 6000 });

describe("a step that is tried again", () => {
  it("leaves the whole answer and one notice", () => {
    const session = after(
      begun,
      said("a", "Half"),
      failed("a"),
      notice("1"),
      said("b", "Ha"),
      failed("b"),
      notice("2"),
    );
    expect(shown(session)).toEqual(["Ha", "notice 2"]);
    expect(shown(reduce(session, said("c", "Whole")))).toEqual(["notice 2", "Whole"]);
  });

  it("leaves one half answer and one notice where no attempt worked", () => {
    const session = after(
      begun,
      said("a", "Half"),
      failed("a"),
      notice("1"),
      failed("b"),
      notice("2"),
      said("c", "Half again"),
      { type: "stepFailed", messageId: "c", isRetried: false },
      ended("failed"),
    );
    expect(shown(session)).toEqual(["notice 2", "Half again", "end"]);
  });

  it("leaves other notices and answers alone", () => {
    const session = after(begun, said("a", "First."), notice("0"), said("b", "Half"), failed("b"), notice("1"));
    expect(shown(reduce(session, said("c", "Whole")))).toEqual(["First.", "notice 0", "notice 1", "Whole"]);
  });
});

describe("the plan of a turn", () => {
  const plan = (id: string, title: string, status?: CallStatus): SessionEvent => ({
    type: "call",
    call: { id, title, role: "plan", ...(status ? { status } : {}) },
  });

  it("has one card, however often it is set", () => {
    const session = after(begun, plan("1", "Plan: 0/2"), said("a", "So."), plan("2", "Plan: 1/2"), {
      type: "call",
      call: { id: "1", status: "completed" },
    });
    expect(shown(session)).toEqual(["call", "So."]);
    expect(session.items[0]).toMatchObject({ id: "2", title: "Plan: 1/2", status: "pending" });
  });

  it("has another card in another turn", () => {
    const session = after(begun, plan("1", "Plan"), ended("end_turn"), begun, plan("2", "Plan"));
    expect(shown(session)).toEqual(["call", "end", "call"]);
  });
});

describe("time", () => {
  it("is noted of calls and turns that happen here", () => {
    const news = (at: number, status: CallStatus): SessionEvent => ({ type: "call", call: { id: "c", status, at } });
    const session = after(
      begun,
      news(1500, "pending"),
      news(2000, "in_progress"),
      news(4500, "completed"),
      ended("end_turn"),
    );
    expect(session.items[0]).toMatchObject({ clock: { beganAt: 2000, tookMs: 2500 } });
    expect(session.items.at(-1)).toMatchObject({ tookMs: 5000 });
    expect(session).not.toHaveProperty("beganAt");
  });
});

describe("what our own server tells of a turn", () => {
  const update = (hermes: object) => toEvents({ sessionUpdate: "session_info_update", _meta: { hermes } });

  it("names the prompt that it works on", () => {
    const prompted = (id: string): SessionEvent => ({
      type: "prompted",
      id,
      text: id,
      attachments: [],
      isWaiting: false,
    });
    const steps = [prompted("t"), begun, ...update({ promptRecorded: { messageId: "m1" } }), prompted("u")];
    const session = after(...steps, { type: "begun", id: "u" }, ...update({ promptRecorded: { messageId: "m2" } }));
    expect(session.items.map((item) => "messageId" in item && item.messageId)).toEqual(["m1", "m2"]);
  });

  it("names the step that failed, and the tools with a card of their own", () => {
    expect(update({ stepFailed: { messageId: "m", retried: true } })).toEqual([
      { type: "stepFailed", messageId: "m", isRetried: true },
    ]);
    const card = { sessionUpdate: "tool_call", toolCallId: "c", title: "Reviewing this turn", name: "look_back" };
    expect(toEvents(card as never)).toMatchObject([{ call: { role: "review" } }]);
  });
});

describe("sessions with the same title", () => {
  it("are told apart", () => {
    const names = ["Fix", "Fix", "Look", "Fix", "Fix (2)"].map((title, at) => ({
      ...emptySession(`${at}`, "/p"),
      title,
    }));
    expect(distinctNames(names)).toEqual(["Fix", "Fix (3)", "Look", "Fix (4)", "Fix (2)"]);
  });
});

describe("a past that is told with its times", () => {
  const own = (hermes: object) => ({ sessionUpdate: "session_info_update", _meta: { hermes } }) as const;
  const call = (more: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "c", ...more }) as const;
  const times = { beganAtMs: 1000, totalMs: 5000, modelMs: 3000, firstTokenMs: 500, toolsMs: 1500, waitingMs: 0 };

  it("has them on prompts, cards and ends", () => {
    const session = after(
      ...[
        { sessionUpdate: "user_message_chunk", messageId: "m", content: { type: "text", text: "Go." } } as const,
        own({ promptTimes: { messageId: "m", saidAtMs: 900 } }),
        { sessionUpdate: "tool_call", toolCallId: "c", title: "Read" } as const,
        call({ _meta: { hermes: { startedAtMs: 2000, endedAtMs: 3500 } } }),
        call({ status: "completed" }),
        own({ turnTimes: times }),
        own({ turnEnded: { turnId: "t", reason: "end_turn" } }),
      ].flatMap((update) => toEvents(update)),
    );
    expect(session.items).toMatchObject([
      { type: "user", saidAt: 900 },
      { type: "call", status: "completed", clock: { beganAt: 2000, tookMs: 1500 } },
      { type: "end", tookMs: 5000, times: { beganAt: 1000, modelMs: 3000, firstWordMs: 500, toolsMs: 1500 } },
    ]);
    expect(session.spent).toBeUndefined();
  });
});
