/** The plan: a bar while the agent follows it, and the unfinished part after a turn. */

import { useState } from "preact/hooks";

import * as messages from "../messages/conversation";
import type { PlanEntry } from "../state/terms";

const MARKS = {
  pending: "circle-large-outline",
  in_progress: "loading codicon-modifier-spin",
  completed: "pass-filled",
} as const;

/** Return the progress of a plan. */
export function progressOf(entries: readonly PlanEntry[]): string {
  return `${entries.filter((entry) => entry.status === "completed").length}/${entries.length}`;
}

export function Plan({ entries }: { entries: readonly PlanEntry[] }) {
  const [isOpen, setOpen] = useState(false);
  const current =
    entries.find((entry) => entry.status === "in_progress") ?? entries.find((entry) => entry.status === "pending");
  return (
    <div class="plan">
      <button type="button" class="plan-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <i class={`codicon codicon-chevron-${isOpen ? "down" : "right"}`} />
        <span class="plan-count">{progressOf(entries)}</span>
        <span class="plan-current">{current?.content ?? messages.PLAN_DONE}</span>
      </button>
      {isOpen && <PlanList entries={entries} />}
    </div>
  );
}

/** The entries, line by line. After a turn, nothing is in progress. */
export function PlanList({ entries, isOver = false }: { entries: readonly PlanEntry[]; isOver?: boolean }) {
  return (
    <ol class="plan-list">
      {entries.map(({ content, status: given }, at) => {
        const status = isOver && given === "in_progress" ? "pending" : given;
        return (
          <li key={at} class={status}>
            <i class={`codicon codicon-${MARKS[status]}`} role="img" aria-label={messages.PLAN_STATES[status]} />
            <span>{content}</span>
          </li>
        );
      })}
    </ol>
  );
}
