/**
 * The rows of a conversation, each by its type.
 *
 * Knows: how words, thoughts, notices and ends look. Does not know: cards (`card`), where rows are.
 */

import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useState } from "preact/hooks";

import type { Shell } from "../panel/messages";
import type { Session } from "../state/session";
import type { Attachment, EndItem, Item, NoticeItem, SummaryItem, ThoughtItem, UserItem } from "../state/terms";
import { tell } from "./bridge";
import { Card } from "./card";
import { Markdown } from "./markdown";
import { QuestionCard } from "./question";

interface Props {
  readonly session: Session;
  readonly item: Item;
  readonly shell: Shell;
  readonly isLast: boolean;
}

const CONTINUE = "Go on where you stopped.";

export function Row({ session, item, shell, isLast }: Props) {
  switch (item.type) {
    case "user":
      return <Said item={item} />;
    case "agent":
      return (
        <article class="agent" aria-label="Hermes">
          <Markdown text={item.text} />
        </article>
      );
    case "thought":
      return <Thought item={item} isGrowing={isLast && session.turns.length > 0} />;
    case "call":
      return (
        <Card
          sessionId={session.id}
          item={item}
          terminals={session.terminals}
          judgesHunks={shell.judgesHunks}
          root={shell.root}
        />
      );
    case "notice":
      return <Notice item={item} />;
    case "summary":
      return <Summary item={item} />;
    case "question":
      return <QuestionCard item={item} />;
    case "end":
      return <End session={session} item={item} isLast={isLast} />;
  }
}

const Said = memo(({ item }: { item: UserItem }) => (
  <article class="user" aria-label="You">
    {item.attachments.length > 0 && (
      <div class="chips">
        {item.attachments.map((attachment, at) => (
          <Attached key={at} attachment={attachment} />
        ))}
      </div>
    )}
    <div class="user-text">{item.text}</div>
    {item.isWaiting && (
      <div class="user-waiting">
        <i class="codicon codicon-clock" /> waits for the running turn
      </div>
    )}
  </article>
));

function Attached({ attachment }: { attachment: Attachment }) {
  if (attachment.data) return <img class="picture" src={attachment.data} alt={attachment.label} />;
  const icon = attachment.kind === "folder" ? "folder" : attachment.kind === "text" ? "list-selection" : "file";
  const { uri } = attachment;
  const open = uri?.startsWith("file:") ? () => tell({ type: "open", path: uri }) : undefined;
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

const Thought = memo(({ item, isGrowing }: { item: ThoughtItem; isGrowing: boolean }) => (
  <Fold title={isGrowing ? "Thinking…" : "Thought"} icon="lightbulb">
    <Markdown text={item.text} />
  </Fold>
));

const SEVERITIES = { info: "info", warning: "warning", error: "error" } as const;

const Notice = memo(({ item }: { item: NoticeItem }) => (
  <div class={`notice ${item.severity}`} role={item.severity === "error" ? "alert" : "note"}>
    <i class={`codicon codicon-${SEVERITIES[item.severity]}`} /> <span>{item.text}</span>
  </div>
));

const Summary = memo(({ item }: { item: SummaryItem }) => (
  <Fold
    title={item.status === "in_progress" ? "Summing up the conversation…" : "The older part was summed up"}
    icon="fold"
  >
    <Markdown text={item.text} />
  </Fold>
));

const ENDS: Readonly<Record<string, string>> = {
  cancelled: "Stopped.",
  max_tokens: "The answer was cut off: it reached the longest answer the model gives.",
  max_turn_requests: "Stopped: the turn used up its steps.",
  refusal: "The model refused to answer.",
  failed: "The turn failed.",
  lost: "The turn was interrupted.",
};

const End = memo(({ session, item, isLast }: { session: Session; item: EndItem; isLast: boolean }) => {
  const words = ENDS[item.reason];
  const canGoOn = isLast && (item.reason === "lost" || item.reason === "failed" || item.reason === "max_turn_requests");
  if (!words && !item.checkpoint) return <div class="end-mark" />;
  const say = (text: string) => tell({ type: "prompt", sessionId: session.id, text, mentions: [], pictures: [] });
  const asked = session.items.findLast((each) => each.type === "user");
  return (
    <div class={`end ${item.reason}`}>
      {words && (
        <div class="end-words">
          <span>{item.text && item.reason !== "cancelled" ? `${words} ${item.text}` : words}</span>
          {canGoOn && (
            <button type="button" class="button small" onClick={() => say(CONTINUE)}>
              Continue
            </button>
          )}
          {canGoOn && item.reason === "failed" && asked?.type === "user" && (
            <button type="button" class="button small quiet" onClick={() => say(asked.text)}>
              Retry
            </button>
          )}
        </div>
      )}
      {item.checkpoint && <Undo session={session} item={item} />}
    </div>
  );
});

function Undo({ session, item }: { session: Session; item: EndItem }) {
  const { checkpoint } = item;
  if (!checkpoint) return null;
  const count = checkpoint.files.length;
  const act = (action: "undo" | "diff") => tell({ type: "checkpoint", action, sessionId: session.id, endId: item.id });
  return (
    <div class="undo">
      <i class="codicon codicon-history" />
      <span>{checkpoint.isRestored ? "Undone" : `${count} file${count === 1 ? "" : "s"} changed`}</span>
      <span class="spring" />
      <button type="button" class="button small quiet" onClick={() => act("diff")}>
        Changes
      </button>
      {!checkpoint.isRestored && (
        <button type="button" class="button small quiet" onClick={() => act("undo")}>
          Undo
        </button>
      )}
    </div>
  );
}
