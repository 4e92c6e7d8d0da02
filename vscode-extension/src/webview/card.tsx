/** A tool call as a card: its title, state, content and question. */

import { useEffect, useRef, useState } from "preact/hooks";

import * as messages from "../messages/conversation";
import { hiddenLines, isLong } from "../state/long_text";
import type { CallContent, CallItem, CallKind, TerminalState } from "../state/terms";
import { Approval, Said } from "./approval";
import { post } from "./bridge";
import { Diff } from "./diff";
import { Elapsed } from "./elapsed";
import { FileName, Title } from "./file_name";
import { Markdown } from "./markdown/markdown";
import { momentOf } from "./past_times";
import { readable } from "./paths";
import { Terminal } from "./terminal";

interface Props {
  readonly sessionId: string;
  readonly item: CallItem;
  readonly terminals: Readonly<Record<string, TerminalState>>;
  readonly judgesHunks: boolean;
  readonly roots: readonly string[];
  /** Whether the rows below it show its activity. */
  readonly isShownBelow: boolean;
}

export const ICONS: Readonly<Record<CallKind, string>> = {
  read: "eye",
  edit: "edit",
  delete: "trash",
  move: "arrow-right",
  search: "search",
  execute: "terminal",
  think: "lightbulb",
  fetch: "globe",
  switch_mode: "arrow-swap",
  other: "tools",
};
export const STATES: Readonly<Record<CallItem["status"], { readonly icon: string; readonly text: string }>> = {
  pending: { icon: "circle-outline", text: messages.CALL_STATES.pending },
  in_progress: { icon: "loading codicon-modifier-spin", text: messages.CALL_STATES.in_progress },
  completed: { icon: "check", text: messages.CALL_STATES.completed },
  failed: { icon: "error", text: messages.CALL_STATES.failed },
};

export function Card({ sessionId, item, terminals, judgesHunks, roots, isShownBelow }: Props) {
  const isAsking = item.approval !== undefined && item.approval.answer === undefined;
  const hasOpenHunks = !item.elsewhere && Object.values(item.verdicts).some((verdicts) => verdicts.includes("open"));
  const [choice, setChoice] = useState<boolean | undefined>(undefined);
  const isOpen =
    choice ?? (isAsking || hasOpenHunks || (item.status === "in_progress" && !isShownBelow) || showsItself(item));
  const requestId = isAsking ? item.approval?.requestId : undefined;
  const [seen, setSeen] = useState("");
  const isSeen = !isLong(item.command ?? "") || (requestId !== undefined && seen === requestId);
  const noteSeen = () => {
    if (requestId === undefined || isSeen) return;
    setSeen(requestId);
    post({ type: "seen", requestId });
  };
  const state = standOf(item, isAsking);
  const title = readable(item, roots);
  return (
    <section
      role="group"
      class={`card ${isRefused(item) || isSideJobOver(item) ? "refused" : item.status} ${isAsking ? "asking" : ""}`}
      aria-label={messages.cardLabel(title, state.text)}
    >
      <button type="button" class="card-head" aria-expanded={isOpen} onClick={() => setChoice(!isOpen)}>
        <Head item={item} roots={roots} state={state} isOpen={isOpen} />
      </button>
      {isOpen && (
        <div class="card-body">
          <Places item={item} roots={roots} />
          {item.command && <Command command={item.command} isShell={item.isShell === true} onEnd={noteSeen} />}
          {shownOf(item).map((content, at) => (
            <Content
              key={at}
              content={content}
              sessionId={sessionId}
              item={item}
              terminals={terminals}
              canJudge={judgesHunks && (isAsking || hasOpenHunks)}
              roots={roots}
            />
          ))}
          {item.clock && <div class="card-time">{messages.ranAt(momentOf(item.clock.beganAt), item.clock.tookMs)}</div>}
          {item.ending && item.status === "failed" && <div class="card-ending">{item.ending}</div>}
        </div>
      )}
      {item.elsewhere ? (
        <Said isYes={item.elsewhere.isYes} words={messages.answeredIn(item.elsewhere.isYes, item.elsewhere.by)} />
      ) : item.approval ? (
        <Approval
          isSeen={isSeen}
          approval={item.approval}
          roots={roots}
          verdicts={Object.values(item.verdicts).flat()}
        />
      ) : (
        item.rejected !== undefined && <Said isYes={false} words={messages.answered(false, item.rejected)} />
      )}
    </section>
  );
}

interface HeadProps {
  readonly item: Props["item"];
  readonly roots: Props["roots"];
  readonly state: { icon: string; text: string };
  readonly isOpen: boolean;
}

const Head = ({ item, roots, state, isOpen }: HeadProps) => (
  <>
    <i class={`codicon codicon-${ICONS[item.kind]} card-kind`} />
    <span class="card-title" title={item.title}>
      <Title item={item} roots={roots} />
    </span>
    <Elapsed clock={item.clock} />
    <State {...state} />
    <i class={`codicon codicon-chevron-${isOpen ? "down" : "right"} card-fold`} />
  </>
);

const State = ({ icon, text }: { icon: string; text: string }) =>
  icon ? <i class={`codicon codicon-${icon} card-state`} title={text} /> : <span class="card-exit">{text}</span>;

/**
 * Return the state of a call. A command with an exit code other than 0 did run, and the code says more than a failure
 * mark.
 */
function standOf(item: CallItem, isAsking: boolean): { readonly icon: string; readonly text: string } {
  if (isAsking) return { icon: "question", text: messages.ASKS_YOU };
  if (isRefused(item)) return { icon: "circle-slash", text: messages.REJECTED_STATE };
  if (isSideJobOver(item)) return { icon: "circle-slash", text: messages.NOT_FINISHED };
  return item.exitCode && item.status === "completed"
    ? { icon: "", text: messages.exitCode(item.exitCode) }
    : STATES[item.status];
}

/** Return whether the user rejected it, now or in a replayed turn. */
export function isRefused({ approval, status, rejected }: CallItem): boolean {
  if (rejected !== undefined) return true;
  const answer = approval?.options.find((each) => each.id === approval.answer);
  return status === "failed" && answer !== undefined && answer.kind.startsWith("reject");
}

/** Return the content of a card, without the agent's note about a rejection and without repeating the title. */
function shownOf(item: CallItem): readonly CallContent[] {
  // Before it runs, the text of a card is what its question is about.
  const isRepeated = item.command !== undefined;
  return item.content.filter(
    (each) => each.type !== "text" || !(isRefused(item) || (isRepeated && item.status === "pending")),
  );
}

/** Return whether a post-turn review failed, which is not a failure of the turn. */
function isSideJobOver({ role, status }: CallItem): boolean {
  return role === "review" && status === "failed";
}

/** Content shown on a closed card: changes, and the output of failed calls. */
function showsItself(item: CallItem): boolean {
  if (isSideJobOver(item)) return false;
  return item.kind === "edit" || item.kind === "execute" || item.status === "failed";
}

function Places({ item, roots }: { item: CallItem; roots: readonly string[] }) {
  const places = item.places.filter(
    ({ path }) => !item.content.some((each) => each.type === "diff" && each.diff.path === path),
  );
  if (places.length === 0) return null;
  return (
    <div class="places">
      {places.map(({ path, line }) => (
        <button
          key={`${path}:${line}`}
          type="button"
          class="link file"
          title={path}
          onClick={() => post({ type: "open", path, ...(line ? { line } : {}) })}
        >
          <FileName path={path} roots={roots} line={line} />
        </button>
      ))}
    </div>
  );
}

interface ContentProps extends Omit<Props, "judgesHunks" | "isShownBelow"> {
  readonly content: CallContent;
  readonly canJudge: boolean;
}

function Content({ content, sessionId, item, terminals, canJudge, roots }: ContentProps) {
  switch (content.type) {
    case "text":
      return item.output === undefined ? <Markdown text={content.text} /> : <Terminal {...outputOf(item)} />;
    case "diff": {
      const verdicts = item.verdicts[content.diff.path] ?? [];
      return (
        <Diff
          sessionId={sessionId}
          callId={item.id}
          diff={content.diff}
          verdicts={verdicts}
          isMade={item.status !== "failed"}
          canJudge={canJudge}
          roots={roots}
        />
      );
    }
    case "terminal":
      return <Terminal {...outputOf(item, terminals[content.terminalId])} />;
  }
}

/** Return a command's output: the part seen here, or the part stored by the agent. */
function outputOf(item: CallItem, seen?: TerminalState) {
  const isOver = seen?.exitCode !== undefined || item.status === "completed" || item.status === "failed";
  return { output: seen?.output ?? item.output, isOver };
}

interface CommandProps {
  readonly command: string;
  readonly isShell: boolean;
  /** Called whenever the end of the text becomes visible. */
  readonly onEnd: () => void;
}

/** The full text to run or use: first its start, then the rest on a click or by scrolling. */
function Command({ command, isShell, onEnd }: CommandProps) {
  const end = useRef<HTMLSpanElement>(null);
  const [isWhole, setWhole] = useState(false);
  const more = hiddenLines(command);
  useEffect(() => {
    if (!end.current || !isLong(command)) return undefined;
    const watcher = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) onEnd();
    });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  });
  return (
    <>
      <pre
        class={`command ${isShell ? "shell" : ""} ${isWhole ? "whole" : ""}`}
        role="group"
        tabIndex={0}
        aria-label={isShell ? messages.COMMAND : messages.ARGUMENTS}
      >
        {command}
        <span ref={end} class="command-end" />
      </pre>
      {isLong(command) && !isWhole && (
        <button type="button" class="link command-more" onClick={() => setWhole(true)}>
          {more > 0 ? messages.showMoreLines(more) : messages.SHOW_ALL}
        </button>
      )}
    </>
  );
}
