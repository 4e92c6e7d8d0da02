/** The open sessions, one tab each, and a list of all if not all tabs fit. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import * as messages from "../messages/panel";
import type { Tab } from "../panel/protocol";
import { post } from "./bridge";

const STATES = { idle: "", working: "loading codicon-modifier-spin", asking: "bell-dot" } as const;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

interface Props {
  readonly tabs: readonly Tab[];
  readonly active: string;
}

export const Tabs = ({ tabs, active }: Props) =>
  tabs.length > 1 ? <Row tabs={tabs} active={active} /> : <Narrow name={tabs[0]?.name} />;

function Row({ tabs, active }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const [isTight, setTight] = useState(false);
  const showActive = () => {
    const { current } = list;
    current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (current) setTight(current.scrollWidth > current.clientWidth);
  };
  useLayoutEffect(showActive, [tabs, active]);
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
      {isTight && <Chooser tabs={tabs} active={active} />}
      <Another />
    </div>
  );
}

/** What stands for the tabs where there is one session: nothing where the view's own buttons have room. */
const Narrow = ({ name }: { name: string | undefined }) =>
  name === undefined ? null : (
    <div class="tab-bar only-narrow">
      <span class="tab-name" title={name}>
        {name}
      </span>
      <Another />
    </div>
  );

/** Start another session, also where the view's own buttons are cut off. */
const Another = () => (
  <button
    type="button"
    class="icon-button another"
    aria-label={messages.START_SESSION}
    title={messages.START_SESSION}
    onClick={() => post({ type: "new" })}
  >
    <i class="codicon codicon-add" />
  </button>
);

/** All sessions in one list. */
const Chooser = ({ tabs, active }: Props) => (
  <span class="tab-chooser">
    <i class="codicon codicon-chevron-down" aria-hidden="true" />
    <select
      aria-label={messages.ALL_SESSIONS}
      title={messages.ALL_SESSIONS}
      value={active}
      onChange={(event) => post({ type: "select", sessionId: event.currentTarget.value })}
    >
      {tabs.map(({ id, name, activity }) => (
        <option key={id} value={id}>
          {messages.inState(name, messages.TAB_STATES[activity])}
        </option>
      ))}
    </select>
  </span>
);

interface HeadProps {
  readonly tab: Tab;
  readonly isActive: boolean;
  readonly onClose: () => void;
}

/** One tab. A middle click closes it too; for the keyboard there is the button behind all tabs, and Delete. */
function TabHead({ tab: { id, name, activity }, isActive, onClose }: HeadProps) {
  const head = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // Arrow keys continue from the tab that they moved to.
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

/** Background sessions that wait for an answer, each with a link. */
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
