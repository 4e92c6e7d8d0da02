/** The extras of a prompt as chips: editor context, mentions, pictures. */

import * as messages from "../messages/panel";
import type { EditorContext } from "../panel/protocol";
import { post } from "./bridge";
import type { Draft } from "./draft";

/** Show the open file and the selection; each is left out, or taken again, with one click, for later prompts too. */
export function Context({ context }: { context: EditorContext }) {
  if (context.length === 0) return null;
  return (
    <div class="chips" role="group" aria-label={messages.CONTEXT}>
      {context.map(({ mention: { kind, label, token }, isTaken }) => (
        <button
          key={token}
          type="button"
          class={`chip context ${isTaken ? "" : "left-out"}`}
          aria-pressed={isTaken}
          aria-label={messages.contextChip(label)}
          title={isTaken ? messages.contextTaken(label) : messages.contextLeftOut(label)}
          onClick={() =>
            post({ type: "takeContext", kind: kind === "selection" ? "selection" : "file", isTaken: !isTaken })
          }
        >
          <i class={`codicon codicon-${isTaken ? "eye" : "eye-closed"}`} /> {label}
        </button>
      ))}
    </div>
  );
}

export function Chips({ draft }: { draft: Draft }) {
  const { mentions, pictures } = draft;
  if (mentions.length + pictures.length === 0) return null;
  return (
    <div class="chips">
      {mentions.map((mention, at) => (
        <button
          key={mention.token}
          type="button"
          class="chip"
          title={mention.detail}
          aria-label={messages.removeMention(mention.label)}
          onClick={() => draft.dropMention(at)}
        >
          {mention.label} <i class="codicon codicon-close" />
        </button>
      ))}
      {pictures.map((picture, at) => (
        <button
          key={at}
          type="button"
          class="chip"
          aria-label={messages.REMOVE_IMAGE}
          onClick={() => draft.dropPicture(at)}
        >
          <img class="chip-picture" src={`data:${picture.mimeType};base64,${picture.data}`} alt="" />{" "}
          <i class="codicon codicon-close" />
        </button>
      ))}
    </div>
  );
}
