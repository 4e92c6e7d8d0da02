import { describe, expect, it } from "vitest";

import type { SessionEvent } from "../../src/state/events";
import { join, Outbox } from "../../src/state/outbox";
import { reduce } from "../../src/state/reduce";
import { emptySession } from "../../src/state/session";

const word = (id: string, text: string): SessionEvent => ({ type: "said", who: "agent", id, text });

describe("events on their way to the panel", () => {
  it("are one for the words of one message", () => {
    const batch: SessionEvent[] = [];
    for (const event of [word("a", "1"), word("a", "2"), word("b", "3"), word("a", "4")]) join(batch, event);
    expect(batch).toEqual([word("a", "12"), word("b", "3"), word("a", "4")]);
  });

  it("come to the same as one by one", () => {
    const events = Array.from({ length: 5000 }, (_, at) => word(at % 97 === 0 ? "x" : "y", `${at} `));
    const batch: SessionEvent[] = [];
    for (const event of events) join(batch, event);
    const start = emptySession("s", "/p");
    expect(batch.reduce(reduce, start)).toEqual(events.reduce(reduce, start));
  });

  it("leave together, in their order, when asked to", () => {
    const sent: (readonly SessionEvent[])[] = [];
    const outbox = new Outbox((_, events) => sent.push(events));
    outbox.put("s", [word("a", "1")]);
    outbox.put("s", [word("a", "2"), { type: "title", title: "t" }]);
    expect(sent).toEqual([]);
    outbox.flush();
    expect(sent).toEqual([[word("a", "12"), { type: "title", title: "t" }]]);
  });
});
