/** The rows of a conversation, each by its type. */

import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useState } from "preact/hooks";

import * as messages from "../messages/conversation";
import type { Shell } from "../panel/protocol";
import { filesSince } from "../state/rewinding";
import type { Session } from "../state/session";
import type {
  Attachment,
  EndItem,
  Item,
  NoticeItem,
  SummaryItem,
  TerminalState,
  ThoughtItem,
  UserItem,
} from "../state/terms";
import { post } from "./bridge";
import { Card } from "./card";
import { ChildCard } from "./child";
import { Elapsed } from "./elapsed";
import { Markdown } from "./markdown/markdown";
import { momentOf } from "./past_times";
import { readable } from "./paths";
import { PlanList, progressOf } from "./plan";
import { waysOn } from "./receipts";
import { QuestionCard } from "./question";
import { Rewind } from "./rewind";

/** Additional data for a row, limited to what its item needs, so that nothing else rerenders it. */
interface Surroundings {
  readonly sessionId: string;
  readonly roots: readonly string[];
  readonly terminals: Readonly<Record<string, TerminalState>>;
  readonly judgesHunks: boolean;
  readonly isWorking: boolean;
  /** Whether the rows below show a call's activity: its child agents, its question. */
  readonly isShownBelow: boolean;
  /** The prompt of a failed turn. */
  readonly asked: string;
  readonly canRewind: boolean;
  /** The number of files changed since a prompt. */
  readonly filesSince: number;
}
interface Props extends Surroundings {
  readonly item: Item;
  readonly isLast: boolean;
}

const NO_TERMINALS = {};
const SHOWN_BELOW: ReadonlySet<Item["type"] | undefined> = new Set(["child", "question"]);

export function surroundingsOf(session: Session, shell: Shell, at: number, item: Item): Surroundings {
  const hasTerminal = item.type === "call" && item.content.some((each) => each.type === "terminal");
  return {
    sessionId: session.id,
    roots: shell.roots,
    terminals: hasTerminal ? session.terminals : NO_TERMINALS,
    judgesHunks: shell.judgesHunks,
    isWorking: session.turns.length > 0,
    isShownBelow: item.type === "call" && SHOWN_BELOW.has(session.items[at + 1]?.type),
    canRewind: shell.canRewind && item.type === "user" && item.messageId !== undefined,
    filesSince: item.type === "user" ? filesSince(session, item.id) : 0,
    asked: item.type === "end" && item.reason === "failed" ? lastPrompt(session) : "",
  };
}

function lastPrompt({ items }: Session): string {
  const asked = items.findLast((each) => each.type === "user");
  return asked?.type === "user" ? asked.text : "";
}

export const Row = memo(({ item, isLast, asked, isWorking, canRewind, filesSince, ...surroundings }: Props) => {
  const { sessionId } = surroundings;
  switch (item.type) {
    case "user":
      return <Said item={item} sessionId={sessionId} canRewind={canRewind && !isWorking} filesSince={filesSince} />;
    case "agent":
      return (
        <div class="agent" role="group" aria-label={messages.AGENT}>
          <Markdown text={item.text} />
        </div>
      );
    case "thought":
      return <Thought item={item} isGrowing={isLast && isWorking} />;
    case "call":
      return <Card item={item} {...surroundings} />;
    case "child":
      return <ChildCard item={item} roots={surroundings.roots} />;
    case "notice":
      return <Notice item={item} />;
    case "summary":
      return <Summary item={item} />;
    case "question":
      return <QuestionCard item={item} />;
    case "end":
      return <End sessionId={sessionId} item={item} isLast={isLast} asked={asked} roots={surroundings.roots} />;
  }
});

interface SaidProps extends Pick<Surroundings, "sessionId" | "canRewind" | "filesSince"> {
  readonly item: UserItem;
}

const Said = ({ item, sessionId, canRewind, filesSince }: SaidProps) => (
  <div class="user" role="group" aria-label={messages.YOU}>
    {canRewind && <Rewind sessionId={sessionId} itemId={item.id} files={filesSince} />}
    {item.attachments.length > 0 && (
      <div class="chips">
        {item.attachments.map((attachment, at) => (
          <Attached key={at} attachment={attachment} />
        ))}
      </div>
    )}
    <div class="user-text" title={item.saidAt === undefined ? undefined : momentOf(item.saidAt)}>
      {item.text}
    </div>
    {item.isWaiting && (
      <div class="user-waiting">
        <i class="codicon codicon-clock" /> {messages.QUEUED}
      </div>
    )}
  </div>
);

function Attached({ attachment }: { attachment: Attachment }) {
  if (attachment.data) return <img class="picture" src={attachment.data} alt={attachment.label} />;
  const icon = attachment.kind === "folder" ? "folder" : attachment.kind === "text" ? "list-selection" : "file";
  const { uri } = attachment;
  const open = uri?.startsWith("file:") ? () => post({ type: "open", path: uri }) : undefined;
  return (
    <button type="button" class="chip" disabled={!open} onClick={open}>
      <i class={`codicon codicon-${icon}`} /> {attachment.label}
    </button>
  );
}

function Fold({
  title,
  icon,
  isOpen,
  children,
}: {
  title: string;
  icon: string;
  isOpen?: boolean;
  children: ComponentChildren;
}) {
  const [choice, setChoice] = useState<boolean | undefined>(undefined);
  const shown = choice ?? isOpen ?? false;
  return (
    <div class="fold">
      <button type="button" class="fold-head" aria-expanded={shown} onClick={() => setChoice(!shown)}>
        <i class={`codicon codicon-chevron-${shown ? "down" : "right"}`} />
        <i class={`codicon codicon-${icon}`} /> {title}
      </button>
      {shown && <div class="fold-body">{children}</div>}
    </div>
  );
}

const Thought = ({ item, isGrowing }: { item: ThoughtItem; isGrowing: boolean }) => (
  <Fold title={isGrowing ? messages.THINKING : messages.THOUGHT} icon="lightbulb">
    <Markdown text={item.text} />
  </Fold>
);

const SEVERITIES = { info: "info", warning: "warning", error: "error" } as const;

const Notice = ({ item }: { item: NoticeItem }) => (
  <div class={`notice ${item.severity}`} role={item.severity === "error" ? "alert" : "note"}>
    <i class={`codicon codicon-${SEVERITIES[item.severity]}`} /> <span>{item.text}</span>
  </div>
);

const Summary = ({ item }: { item: SummaryItem }) => (
  <Fold title={item.status === "in_progress" ? messages.SUMMARISING : messages.SUMMARISED} icon="fold">
    <Markdown text={item.text} />
  </Fold>
);

interface EndProps {
  readonly sessionId: string;
  readonly item: EndItem;
  readonly isLast: boolean;
  readonly asked: string;
  readonly roots: readonly string[];
}

const End = ({ sessionId, item, isLast, asked, roots }: EndProps) => {
  const words = messages.ENDS[item.reason];
  const canGoOn = isLast && (item.reason === "lost" || item.reason === "failed" || item.reason === "max_turn_requests");
  const took = item.tookMs === undefined ? undefined : { beganAt: 0, tookMs: item.tookMs };
  const details = item.times ? { details: messages.timeSpent(momentOf(item.times.beganAt), item.times) } : {};
  if (!words && !item.checkpoint && !item.plan) {
    return (
      <div class="end-mark">
        <Elapsed clock={took} {...details} />
      </div>
    );
  }
  const unanswered = item.unanswered ? readable({ title: item.unanswered, kind: "edit" }, roots) : "";
  const say = (text: string) => post({ type: "prompt", sessionId, text, mentions: [], pictures: [] });
  return (
    <div class={`end ${item.reason}`}>
      {unanswered && (
        <div class="end-unanswered" role="note">
          <i class="codicon codicon-question" /> {messages.unanswered(unanswered)}
        </div>
      )}
      {words && (
        <div class="end-words">
          {item.reason === "failed" && <i class="codicon codicon-error" />}
          <span class="end-said">{item.text && item.reason !== "cancelled" ? `${words} ${item.text}` : words}</span>
          <Elapsed clock={took} {...details} />
          {isLast && item.needsSetUp && (
            <button
              type="button"
              class="button small primary"
              onClick={() => post({ type: "run", command: "hermes.setUp" })}
            >
              {messages.SET_UP_MODEL}
            </button>
          )}
          {canGoOn &&
            waysOn(item.isToRetry === true, asked, unanswered).map(({ name, prompt }, at) => (
              <button
                key={name}
                type="button"
                class={`button small ${at > 0 ? "quiet" : ""}`}
                onClick={() => say(prompt)}
              >
                {name}
              </button>
            ))}
        </div>
      )}
      {item.plan && (
        <Fold title={messages.planProgress(progressOf(item.plan))} icon="checklist">
          <PlanList entries={item.plan} isOver />
        </Fold>
      )}
      {item.checkpoint && <Undo sessionId={sessionId} item={item} />}
    </div>
  );
};

function Undo({ sessionId, item }: { sessionId: string; item: EndItem }) {
  const { checkpoint } = item;
  if (!checkpoint) return null;
  const count = checkpoint.files.length;
  const act = (action: "undo" | "diff") => post({ type: "checkpoint", action, sessionId, endId: item.id });
  return (
    <div class="undo">
      <i class="codicon codicon-history" />
      <span>{checkpoint.isRestored ? messages.UNDONE : messages.filesChanged(count)}</span>
      {item.reason === "end_turn" && item.tookMs !== undefined && (
        <Elapsed
          clock={{ beganAt: 0, tookMs: item.tookMs }}
          {...(item.times ? { details: messages.timeSpent(momentOf(item.times.beganAt), item.times) } : {})}
        />
      )}
      <span class="spring" />
      <button type="button" class="button small quiet" onClick={() => act("diff")}>
        {messages.CHANGES}
      </button>
      {!checkpoint.isRestored && (
        <button type="button" class="button small quiet" onClick={() => act("undo")}>
          {messages.UNDO}
        </button>
      )}
    </div>
  );
}
