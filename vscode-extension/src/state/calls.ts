/** Apply updates to the card of a tool call. */

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
      elsewhere: news.elsewhere,
      clock,
    }),
    verdicts: {},
  };
}

export function changedCall(before: CallItem, { at, ...news }: CallNews): CallItem {
  const content = news.content && contentAfter(before, news.status, news.content);
  const clock = news.clock ?? clockAfter(before.clock, news.status, at);
  return { ...before, ...withoutUndefined({ ...news, content, clock }) };
}

/** Return the index of the running turn's plan card, or -1. */
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

/** The outcome of a refused or failed change is shown below it. */
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

/**
 * A change reviewed hunk by hunk stays on the card as reviewed; the verdicts show the outcome. The written file may
 * contain lines that the user typed in the meantime, which are not part of the agent's change.
 */
function asJudged(content: CallContent, before: CallItem): CallContent {
  if (content.type !== "diff") return content;
  const { path } = content.diff;
  return (isJudged(before, path) && judgedDiff(before, path)) || content;
}

function isJudged({ verdicts }: CallItem, path: string): boolean {
  return verdicts[path]?.some((verdict) => verdict !== "open") ?? false;
}

function judgedDiff({ content }: CallItem, path: string): CallContent | undefined {
  return content.find((each) => each.type === "diff" && each.diff.path === path);
}

/** Add to a replayed card what only this editor knows: its duration and its verdicts. */
export function asSeen(told: CallItem, before: CallItem | undefined): CallItem {
  if (!before) return told;
  const paths = Object.keys(before.verdicts).filter((path) => isJudged(before, path) && judgedDiff(before, path));
  const verdicts = Object.fromEntries(paths.map((path) => [path, before.verdicts[path] ?? []]));
  return {
    ...told,
    ...(before.clock?.tookMs === undefined ? {} : { clock: before.clock }),
    ...(paths.length > 0 && before.approval?.answer ? { approval: before.approval, verdicts } : {}),
    content: told.content.map((each) => asJudged(each, { ...before, verdicts })),
  };
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
