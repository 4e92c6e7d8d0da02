/** Usage figures for charts, and their formats. */

import type { UsageListGroup } from "../acp/own";
import * as messages from "../messages/work";
import type { UsageBy } from "./usage";

export type Measure = keyof typeof messages.USAGE_MEASURES;

const OF_MODELS: readonly Measure[] = ["cost", "tokens", "requests"];
const OF_TOOLS: readonly Measure[] = ["calls", "time", "results"];

const AMOUNTS: Readonly<Record<Measure, (group: UsageListGroup) => number>> = {
  cost: ({ costUsd }) => costUsd,
  tokens: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  requests: ({ requests }) => requests,
  calls: ({ requests }) => requests,
  time: ({ tookS }) => tookS,
  results: ({ outputTokens }) => outputTokens,
};

export interface Bar {
  readonly name: string;
  readonly amount: number;
}

/** The measures available for groups. */
export function measuresOf(by: UsageBy): readonly Measure[] {
  return by === "tool" ? OF_TOOLS : OF_MODELS;
}

/** The measure to chart: the reader's choice if available, otherwise the cost if known. */
export function measureOf(by: UsageBy, groups: readonly UsageListGroup[], chosen: Measure | undefined): Measure {
  if (chosen && measuresOf(by).includes(chosen)) return chosen;
  if (by === "tool") return "calls";
  return groups.some(({ costUsd }) => costUsd > 0) ? "cost" : "tokens";
}

export function amountOf(measure: Measure, group: UsageListGroup): number {
  return AMOUNTS[measure](group);
}

/** Format an amount in full. */
export function written(measure: Measure, amount: number): string {
  if (measure === "cost") return messages.dollars(amount) || "$0";
  return measure === "time" ? messages.duration(amount) : messages.number(amount);
}

/** Format an amount for an axis. */
export function writtenShort(measure: Measure, amount: number): string {
  if (measure === "cost") return messages.dollars(amount) || "$0";
  return messages.shortNumber(amount) + (measure === "time" ? " s" : "");
}

/** Return a bar for every day from the first to the last, also for those without usage. */
export function dailyBars(groups: readonly UsageListGroup[], measure: Measure, first: string, last: string): Bar[] {
  const amounts = new Map(groups.map((group) => [group.name, amountOf(measure, group)]));
  const bars: Bar[] = [];
  for (let day = Date.parse(`${first}T00:00:00Z`); day <= Date.parse(`${last}T00:00:00Z`); day += 86_400_000) {
    const name = new Date(day).toISOString().slice(0, 10);
    bars.push({ name, amount: amounts.get(name) ?? 0 });
  }
  return bars;
}

/** Return groups in list order: days newest first, everything else largest first. */
export function listed(by: UsageBy, groups: readonly UsageListGroup[], measure: Measure): UsageListGroup[] {
  if (by === "day") return [...groups].reverse();
  return [...groups].sort((a, b) => amountOf(measure, b) - amountOf(measure, a) || (a.name < b.name ? -1 : 1));
}

export function totalOf(groups: readonly UsageListGroup[]): UsageListGroup {
  const sum = (amount: (group: UsageListGroup) => number) => groups.reduce((all, each) => all + amount(each), 0);
  return {
    name: messages.TOTAL,
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    costUsd: sum(({ costUsd }) => costUsd),
    tookS: sum(({ tookS }) => tookS),
  };
}
