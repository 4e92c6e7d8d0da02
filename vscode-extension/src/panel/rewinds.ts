/**
 * Rewind a session to before an earlier prompt, with or without the files, and undo the rewind.
 *
 * The session as it was is kept.
 */

import type { Conversations } from "../acp/conversations";
import type { Checkpoints } from "../edits/checkpoints";
import { changesSince } from "../state/rewinding";
import { findItem } from "../state/session";
import type { Store } from "../state/store";
import type { Attachment, Rewound, UserItem } from "../state/terms";
import type { Mention, Picture, ToView } from "./protocol";

export interface RewindParts {
  readonly store: Store;
  readonly conversations: Pick<Conversations, "fork" | "open" | "close" | "delete">;
  readonly checkpoints: Pick<Checkpoints, "restore">;
}

export class Rewinds {
  constructor(
    private readonly parts: RewindParts,
    private readonly select: (sessionId: string) => void,
  ) {}

  /** Continue from before a prompt in a new session, and return the prompt for editing. */
  async rewind(sessionId: string, itemId: string, withFiles: boolean): Promise<ToView | undefined> {
    const { store, conversations } = this.parts;
    const session = store.get(sessionId);
    const item = session && findItem(session, "user", itemId);
    if (!session || item?.messageId === undefined || session.turns.length > 0) return undefined;
    const undos = withFiles ? await this.undoFiles(sessionId, itemId) : [];
    if (!undos) return undefined;
    const { messageId } = item;
    const forked = await conversations
      .fork(sessionId, session.cwd, { messageId, undos })
      .catch(async (error: unknown) => {
        await this.takeBack(undos);
        throw error;
      });
    for (const prompt of session.queue) store.dispatch(forked, { type: "queued", prompt });
    await conversations.close(sessionId);
    this.select(forked);
    return refillFrom(item);
  }

  /** Undo the file changes since a prompt, latest first. If one must stay, change nothing and return undefined. */
  private async undoFiles(sessionId: string, itemId: string): Promise<Rewound["undos"] | undefined> {
    const session = this.parts.store.get(sessionId);
    const undos: Rewound["undos"][number][] = [];
    for (const checkpoint of session ? changesSince(session, itemId).toReversed() : []) {
      const keeper = checkpoint.sessionId ?? sessionId;
      const id = await this.parts.checkpoints.restore(keeper, checkpoint.id);
      if (id === undefined) {
        await this.takeBack(undos);
        return undefined;
      }
      if (id) undos.push({ sessionId: keeper, id });
    }
    return undos;
  }

  /** Redo what was undone, last undo first. */
  private async takeBack(undos: Rewound["undos"]): Promise<void> {
    for (const { sessionId, id } of undos.toReversed()) await this.parts.checkpoints.restore(sessionId, id);
  }

  /** Return to the original session, with its files. */
  async undo(sessionId: string): Promise<void> {
    const { store, conversations } = this.parts;
    const session = store.get(sessionId);
    if (!session?.rewound) return;
    const { from, undos } = session.rewound;
    await conversations.open(from, session.cwd);
    await this.takeBack(undos);
    for (const prompt of session.queue) store.dispatch(from, { type: "queued", prompt });
    this.select(from);
    await conversations.delete(sessionId);
    this.select(from);
  }
}

function refillFrom({ text, attachments }: UserItem): ToView {
  return { type: "refill", text, mentions: attachments.flatMap(mentionIn), pictures: attachments.flatMap(pictureIn) };
}

function mentionIn({ kind, label, uri }: Attachment): readonly Mention[] {
  if (!uri?.startsWith("file:") || kind === "image") return [];
  return [{ kind: kind === "text" ? "selection" : kind, token: label, label, detail: "", uri }];
}

function pictureIn({ data }: Attachment): readonly Picture[] {
  const parts = /^data:([^;]+);base64,(.*)$/s.exec(data ?? "");
  return parts?.[1] ? [{ mimeType: parts[1], data: parts[2] ?? "" }] : [];
}
