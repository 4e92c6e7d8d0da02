/** A child agent as a card: its task, state, activity and text. */

import { useState } from "preact/hooks";

import * as messages from "../messages/conversation";
import type { ChildItem } from "../state/terms";
import { ICONS, STATES } from "./card";
import { Markdown } from "./markdown/markdown";
import { readable } from "./paths";

const STANDS: Readonly<Record<ChildItem["state"], { readonly icon: string; readonly text: string }>> = {
  running: STATES.in_progress,
  asking: { icon: "question", text: messages.ASKS_YOU },
  done: STATES.completed,
  failed: STATES.failed,
  cancelled: { icon: "circle-slash", text: messages.STOPPED_STATE },
};
const LIVELY = 6;

export function ChildCard({ item, roots }: { item: ChildItem; roots: readonly string[] }) {
  const [choice, setChoice] = useState<boolean | undefined>(undefined);
  const stand = STANDS[item.state];
  const isAtWork = item.state === "running" || item.state === "asking";
  const isOpen = choice ?? (isAtWork || item.state === "failed");
  // While it is running, show only the newest lines unless the user expands it.
  const calls = choice === undefined ? item.calls.slice(-LIVELY) : item.calls;
  const title = item.title || messages.CHILD_AGENT;
  return (
    <section role="group" class={`card child ${item.state}`} aria-label={messages.childLabel(title, stand.text)}>
      <button type="button" class="card-head" aria-expanded={isOpen} onClick={() => setChoice(!isOpen)}>
        <i class="codicon codicon-type-hierarchy-sub card-kind" />
        <span class="card-title">{title}</span>
        <span class="child-count">{messages.childCalls(item.calls.length)}</span>
        <i class={`codicon codicon-${stand.icon} card-state`} title={stand.text} />
        <i class={`codicon codicon-chevron-${isOpen ? "down" : "right"} card-fold`} />
      </button>
      {isOpen && (
        <div class="card-body child-body">
          {calls.length > 0 && (
            <ol class="child-calls" aria-label={messages.CHILD_CALLS}>
              {calls.map((call) => (
                <li key={call.id} class={call.status}>
                  <i class={`codicon codicon-${ICONS[call.kind]}`} />
                  <span class="child-call">{readable(call, roots)}</span>
                  <i
                    class={`codicon codicon-${STATES[call.status].icon}`}
                    role="img"
                    aria-label={STATES[call.status].text}
                  />
                </li>
              ))}
            </ol>
          )}
          {item.text && <Markdown text={item.text} />}
          {item.error && <div class="child-error">{item.error}</div>}
          {calls.length === 0 && !item.text && !item.error && (
            <div class="child-nothing">{isAtWork ? messages.CHILD_NOTHING_YET : messages.CHILD_NOTHING_KEPT}</div>
          )}
        </div>
      )}
    </section>
  );
}
