/** Rewind to an earlier prompt, and undo the rewind. */

import { useState } from "preact/hooks";

import * as messages from "../messages/panel";
import { post } from "./bridge";

interface Props {
  readonly sessionId: string;
  readonly itemId: string;
  /** The number of files changed since. */
  readonly files: number;
}

export function Rewind({ sessionId, itemId, files }: Props) {
  const [isOpen, setOpen] = useState(false);
  const rewind = (withFiles: boolean) => {
    setOpen(false);
    post({ type: "rewind", sessionId, itemId, withFiles });
  };
  if (!isOpen) {
    return (
      <button
        type="button"
        class="icon-button rewind"
        aria-label={messages.REWIND}
        title={messages.REWIND}
        onClick={() => setOpen(true)}
      >
        <i class="codicon codicon-edit" />
      </button>
    );
  }
  return (
    <div class="rewind-choice" role="group" aria-label={messages.REWIND}>
      <span>{messages.REWIND_WHAT}</span>
      <button type="button" class="button small" onClick={() => rewind(false)}>
        {messages.REWIND_WORDS}
      </button>
      {files > 0 && (
        <button type="button" class="button small" onClick={() => rewind(true)}>
          {messages.rewindFiles(files)}
        </button>
      )}
      <button type="button" class="button small quiet" onClick={() => setOpen(false)}>
        {messages.CANCEL}
      </button>
    </div>
  );
}

export const Rewound = ({ sessionId }: { sessionId: string }) => (
  <div class="trust rewound" role="status">
    <i class="codicon codicon-history" />
    <span>{messages.REWOUND}</span>
    <button type="button" class="button small" onClick={() => post({ type: "undoRewind", sessionId })}>
      {messages.UNDO_REWIND}
    </button>
  </div>
);
