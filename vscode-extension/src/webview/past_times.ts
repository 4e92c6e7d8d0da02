/** Format past times and how long ago they were. */

import { JUST_NOW } from "../messages/panel";

const STEPS: readonly [limit: number, unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  [3600, "minute", 60],
  [86_400, "hour", 3600],
  [30 * 86_400, "day", 86_400],
  [Infinity, "month", 30 * 86_400],
];

/** Return how long ago a time was, or an empty string for an invalid time. */
export function whenOf(iso: string, now = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (Number.isNaN(seconds)) return "";
  const step = STEPS.find(([limit]) => seconds < limit);
  if (!step || seconds < 60) return JUST_NOW;
  return new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" }).format(
    -Math.round(seconds / step[2]),
    step[1],
  );
}

/** Return a time in the reader's locale. */
export function momentOf(ms: number): string {
  return new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
