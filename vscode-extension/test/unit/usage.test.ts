import { expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import type { UsageListGroup } from "../../src/acp/own";
import { Usage, type UsageBy } from "../../src/work/usage";
import { dailyBars, listed, measureOf, totalOf, written, writtenShort } from "../../src/work/usage_figures";

function group(name: string, changes: Partial<UsageListGroup> = {}): UsageListGroup {
  const nothing = { requests: 0, failed: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0, tookS: 0 };
  return { name, ...nothing, ...changes };
}

it("draws every day of the time, across a month and a change of clocks", () => {
  const bars = dailyBars([group("2026-03-29", { costUsd: 2 })], "cost", "2026-02-27", "2026-03-30");
  expect(bars.length).toBe(32);
  expect(bars.map(({ name }) => name)).toContain("2026-03-01");
  expect(bars.filter(({ amount }) => amount > 0)).toEqual([{ name: "2026-03-29", amount: 2 }]);
  expect(dailyBars([], "cost", "2026-03-30", "2026-03-30")).toEqual([{ name: "2026-03-30", amount: 0 }]);
});

it("draws money if any is known, and only what there is of the groups", () => {
  const free = [group("a", { inputTokens: 5 })];
  expect(measureOf("model", free, undefined)).toBe("tokens");
  expect(measureOf("model", [...free, group("b", { costUsd: 1 })], undefined)).toBe("cost");
  expect(measureOf("tool", free, "cost")).toBe("calls");
  expect(measureOf("tool", free, "time")).toBe("time");
  expect(measureOf("day", free, "time")).toBe("tokens");
});

it("lists the newest day first, and otherwise the largest", () => {
  const groups = [group("a", { requests: 1 }), group("b", { requests: 3 }), group("c", { requests: 3 })];
  expect(listed("day", groups, "requests").map(({ name }) => name)).toEqual(["c", "b", "a"]);
  expect(listed("model", groups, "requests").map(({ name }) => name)).toEqual(["b", "c", "a"]);
  expect(totalOf(groups).requests).toBe(7);
});

it("writes amounts in full and short", () => {
  expect([written("cost", 0.0123), written("cost", 0), written("tokens", 12345)]).toEqual(["$0.0123", "$0", "12,345"]);
  expect([writtenShort("tokens", 1_234_567), writtenShort("time", 90)]).toEqual(["1.2M", "90 s"]);
});

it("shows the answer to what was asked last, whatever arrives first", async () => {
  const asked = new Map<UsageBy, (answer: unknown) => void>();
  const link = {
    agent: {
      request: (_: string, { by }: { by: UsageBy }) => new Promise((resolve) => asked.set(by, resolve)),
    },
    greeting: { agentCapabilities: { _meta: { hermes: { usage: true } } } },
  } as unknown as Link;
  const answer = (name: string) => ({ groups: [group(name)], sessions: [], firstDay: "", lastDay: "", isWhole: true });
  const usage = new Usage();
  usage.adopt(link);
  const both = [usage.act({ type: "by", by: "model" }), usage.act({ type: "by", by: "tool" })];
  asked.get("tool")?.(answer("read_file"));
  asked.get("model")?.(answer("acme/large"));
  await Promise.all(both);
  const { groups, groupsAre, by, isReading } = usage.shown.value;
  expect([groups[0]?.name, groupsAre, by, isReading]).toEqual(["read_file", "tool", "tool", false]);
});
