/**
 * How the card of a tool call changes by its news.
 *
 * Knows: cards. Does not know: the items around them, beyond the plan's one card in a turn.
 */

import type { CallNews } from "./events";
import type { Session } from "./session";
import type { CallContent, CallItem, Clock } from "./terms";

export function freshCall({ id, at, status, ...news }: CallNews): CallItem {
  const clock = clockAfter(undefined, status, at);
  return {
    type: "call",
    id,
    title: news.title ?? "",
    kind: news.kind ?? "other",
    status: status ?? "pending",
    content: news.content ?? [],
    places: news.places ?? [],
    ...withoutUndefined({
      role: news.role,
      exitCode: news.exitCode,
      command: news.command,
      isShell: news.isShell,
      output: news.output,
      ending: news.ending,
      rejected: news.rejected,
      clock,
    }),
    verdicts: {},
  };
}

export function changedCall(before: CallItem, { at, ...news }: CallNews): CallItem {
  const content = news.content && contentAfter(before, news.status, news.content);
  const clock = clockAfter(before.clock, news.status, at);
  return { ...before, ...withoutUndefined({ ...news, content, clock }) };
}

/** Return where the card of the running turn's plan is, -1 where there is none yet. */
export function planCardOf({ items }: Session): number {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.type === "call" && item.role === "plan") return at;
    if (item?.type === "user" || item?.type === "end") break;
  }
  return -1;
}

function clockAfter(before: Clock | undefined, status: CallItem["status"] | undefined, at: number | undefined) {
  if (at === undefined) return before;
  if (status === "in_progress") return before ?? { beganAt: at };
  const isOver = status === "completed" || status === "failed";
  return before && isOver ? { ...before, tookMs: Math.max(0, at - before.beganAt) } : before;
}

/** What became of a change that was refused or failed is said beneath it. */
function contentAfter(
  before: CallItem,
  status: CallItem["status"] | undefined,
  content: readonly CallContent[],
): readonly CallContent[] {
  const hasDiffs = content.some((each) => each.type === "diff");
  const diffs = before.content.filter((each) => each.type === "diff");
  if (status === "failed" && !hasDiffs) return [...diffs, ...content];
  return content.map((each) => asJudged(each, before));
}

/** What was judged hunk by hunk stays on the card as it was judged; what came of it, the verdicts say. */
function asJudged(content: CallContent, before: CallItem): CallContent {
  if (content.type !== "diff" || !before.verdicts[content.diff.path]?.includes("rejected")) return content;
  const path = content.diff.path;
  return before.content.find((each) => each.type === "diff" && each.diff.path === path) ?? content;
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
