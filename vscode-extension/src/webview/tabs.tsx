/**
 * The sessions that are open, one tab each.
 *
 * Knows: their names and how they stand. Does not know: what is in a session.
 */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import * as messages from "../messages/panel";
import type { Tab } from "../panel/protocol";
import { post } from "./bridge";

const STATES = { idle: "", working: "loading codicon-modifier-spin", asking: "bell-dot" } as const;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

export function Tabs({ tabs, active }: { tabs: readonly Tab[]; active: string }) {
  const list = useRef<HTMLDivElement>(null);
  const showActive = () =>
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  useLayoutEffect(showActive);
  useEffect(() => {
    const watcher = new ResizeObserver(showActive);
    if (list.current) watcher.observe(list.current);
    return () => watcher.disconnect();
  }, []);
  const shown = tabs.find(({ id }) => id === active);
  const close = (sessionId: string) => post({ type: "close", sessionId });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const next = step && tabs[(tabs.findIndex(({ id }) => id === active) + step + tabs.length) % tabs.length];
    if (next) post({ type: "select", sessionId: next.id });
    else if (event.key === "Delete") close(active);
    else return;
    event.preventDefault();
  };
  return (
    <div class="tab-bar">
      <div class="tabs" role="tablist" aria-label={messages.SESSIONS} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <TabHead key={tab.id} tab={tab} isActive={tab.id === active} onClose={() => close(tab.id)} />
        ))}
      </div>
      {shown && (
        <button
          type="button"
          class="icon-button"
          aria-label={messages.closeTab(shown.name)}
          title={messages.closeTab(shown.name)}
          onClick={() => close(active)}
        >
          <i class="codicon codicon-close" />
        </button>
      )}
    </div>
  );
}

interface HeadProps {
  readonly tab: Tab;
  readonly isActive: boolean;
  readonly onClose: () => void;
}

/** One tab. A middle click closes it too; for the keyboard there is the button behind all tabs, and Delete. */
function TabHead({ tab: { id, name, activity }, isActive, onClose }: HeadProps) {
  const head = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The arrow keys go on from the tab that they led to.
    const tabs = head.current?.parentElement;
    if (isActive && tabs?.contains(document.activeElement)) head.current?.focus();
  }, [isActive]);
  return (
    <button
      ref={head}
      type="button"
      role="tab"
      class={`tab ${isActive ? "active" : ""}`}
      aria-selected={isActive}
      tabIndex={isActive ? 0 : -1}
      title={name}
      onClick={() => post({ type: "select", sessionId: id })}
      onAuxClick={onClose}
    >
      {STATES[activity] && (
        <i class={`codicon codicon-${STATES[activity]}`} role="img" aria-label={messages.TAB_STATES[activity]} />
      )}
      <span class="tab-words">{name}</span>
    </button>
  );
}

/** Sessions in the background that wait for an answer, each with a way to it. */
export function AskingElsewhere({ tabs, active }: { tabs: readonly Tab[]; active: string }) {
  const asking = tabs.filter(({ id, activity }) => activity === "asking" && id !== active);
  return (
    <div class="asking-elsewhere" role="status">
      {asking.map(({ id, name }) => (
        <button key={id} type="button" class="asking-strip" onClick={() => post({ type: "select", sessionId: id })}>
          <i class="codicon codicon-bell-dot" /> <span>{messages.asksElsewhere(name)}</span>
        </button>
      ))}
    </div>
  );
}
