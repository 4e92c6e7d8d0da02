/** The tray of messages that wait for the running turn to end. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";

import * as messages from "../messages/panel";
import type { Session } from "../state/session";
import type { QueuedPrompt } from "../state/terms";
import { post } from "./bridge";

export function Queue({ session, canSteer }: { session: Session; canSteer: boolean }) {
  const { queue, isHeld, turns } = session;
  if (queue.length === 0) return null;
  const isWorking = turns.length > 0;
  return (
    <section class="queue" aria-label={messages.QUEUE}>
      <div class="queue-head">{isWorking && !isHeld ? messages.queued(queue.length) : messages.held(queue.length)}</div>
      <ol class="queue-list">
        {queue.map((prompt, at) => (
          <Waiting
            key={prompt.id}
            sessionId={session.id}
            prompt={prompt}
            isFirst={at === 0}
            isLast={at === queue.length - 1}
            send={isWorking ? (canSteer ? messages.SEND_NOW : "") : messages.SEND}
          />
        ))}
      </ol>
    </section>
  );
}

interface WaitingProps {
  readonly sessionId: string;
  readonly prompt: QueuedPrompt;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** The label for sending it now, or empty if that is impossible. */
  readonly send: string;
}

function Waiting({ sessionId, prompt, isFirst, isLast, send }: WaitingProps) {
  const [isEdited, setEdited] = useState(false);
  const { id, text, mentions, pictures } = prompt;
  const act = (action: "send" | "remove" | "up" | "down") => () => post({ type: "queue", action, sessionId, id });
  const extras = mentions.length + pictures.length;
  if (isEdited) {
    return (
      <li class="queue-row">
        <Editor
          text={text}
          onEnd={(next) => {
            setEdited(false);
            if (next?.trim() && next !== text) post({ type: "reword", sessionId, id, text: next.trim() });
          }}
        />
      </li>
    );
  }
  return (
    <li class="queue-row">
      <span class="queue-text" title={text}>
        {text}
        {extras > 0 && <span class="queue-extras"> {messages.withAttachments(extras)}</span>}
      </span>
      {send && <Action icon="arrow-up" label={messages.sendQueued(send, text)} title={send} onClick={act("send")} />}
      <Action icon="edit" label={messages.editQueued(text)} title={messages.EDIT} onClick={() => setEdited(true)} />
      {!isFirst && (
        <Action icon="chevron-up" label={messages.moveUp(text)} title={messages.MOVE_UP} onClick={act("up")} />
      )}
      {!isLast && (
        <Action icon="chevron-down" label={messages.moveDown(text)} title={messages.MOVE_DOWN} onClick={act("down")} />
      )}
      <Action icon="close" label={messages.removeQueued(text)} title={messages.REMOVE} onClick={act("remove")} />
    </li>
  );
}

interface ActionProps {
  readonly icon: string;
  readonly label: string;
  readonly title: string;
  readonly onClick: () => void;
}

const Action = ({ icon, label, title, onClick }: ActionProps) => (
  <button type="button" class="icon-button" aria-label={label} title={title} onClick={onClick}>
    <i class={`codicon codicon-${icon}`} />
  </button>
);

/** Change the words of one message: Enter or leaving the field keeps them, Escape does not. */
function Editor({ text, onEnd }: { text: string; onEnd: (text: string | undefined) => void }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const isOver = useRef(false);
  useLayoutEffect(() => {
    area.current?.focus();
    area.current?.setSelectionRange(text.length, text.length);
  }, []);
  const end = (next: string | undefined) => {
    // The field loses the focus again when it is removed.
    if (isOver.current) return;
    isOver.current = true;
    onEnd(next);
  };
  return (
    <textarea
      ref={area}
      class="queue-editor"
      rows={Math.min(8, text.split("\n").length)}
      defaultValue={text}
      aria-label={messages.QUEUED_TEXT}
      onBlur={(event) => end(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key === "Escape") end(undefined);
        else if (event.key === "Enter" && !event.shiftKey) end(event.currentTarget.value);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
