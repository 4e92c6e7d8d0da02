/** Shows and undoes what a turn changed. */

import type { Link } from "../acp/link";
import { announces, ask, methods } from "../acp/methods";
import type { CheckpointsListCheckpoint } from "../acp/own";
import * as messages from "../messages/editor";
import type { Dialogs } from "../panel/host";
import { findItem } from "../state/session";
import type { Store } from "../state/store";
import type { Checkpoint } from "../state/terms";

/** Times on the wire may be rounded down to a second. */
const CLOCK_MS = 1000;

export class Checkpoints {
  private link: Link | undefined;

  constructor(
    private readonly store: Store,
    private readonly dialogs: Dialogs,
    private readonly log: (warning: string) => void,
  ) {}

  adopt(link: Link): void {
    this.link = announces(link, "checkpoints") ? link : undefined;
  }

  /** Look up the changes of the turn that started then (in ms) and just ended, and show them below its end. */
  async note(sessionId: string, endId: string, beganAt: number): Promise<void> {
    const listed = await this.list(sessionId);
    const shown = (this.store.get(sessionId)?.items ?? []).flatMap((item) =>
      item.type === "end" && item.checkpoint ? [{ endId: item.id, checkpoint: item.checkpoint }] : [],
    );
    // A turn may also have been undone or redone by a command of the user.
    for (const { endId: at, checkpoint } of shown) {
      const now = listed.find(({ id }) => id === checkpoint.id);
      if (now && now.isUndone !== checkpoint.isRestored) this.put(sessionId, at, now);
    }
    const latest = listed.at(-1);
    if (!latest || latest.files.length === 0 || shown.some(({ checkpoint }) => checkpoint.id === latest.id)) return;
    // The end of a turn that this client only joined has the server's ID; the start of such a turn is not known here.
    if (latest.turnId === endId || Date.parse(latest.createdAt) >= beganAt - CLOCK_MS)
      this.put(sessionId, endId, latest);
  }

  /** Look up the changes of a loaded session's turns, and show them below their ends. */
  async recall(sessionId: string): Promise<void> {
    for (const keeper of [...(this.store.get(sessionId)?.sources ?? []), sessionId]) {
      for (const each of await this.list(keeper)) {
        const session = this.store.get(sessionId);
        if (each.files.length > 0 && session && findItem(session, "end", each.turnId))
          this.put(sessionId, each.turnId, each, keeper);
      }
    }
  }

  /** Return the agent's checkpoints, or none if they cannot be listed, without reporting an error. */
  private async list(sessionId: string): Promise<readonly CheckpointsListCheckpoint[]> {
    if (!this.link) return [];
    try {
      return (await ask(this.link, "_hermes/checkpoints/list", { sessionId })).checkpoints;
    } catch (error) {
      this.log(String(error));
      return [];
    }
  }

  private put(sessionId: string, endId: string, listed: CheckpointsListCheckpoint, keeper = sessionId): void {
    const { id, files, isUndone } = listed;
    const elsewhere = keeper === sessionId ? {} : { sessionId: keeper };
    const checkpoint: Checkpoint = { id, files, isRestored: isUndone, ...elsewhere };
    this.store.dispatch(sessionId, { type: "checkpoint", endId, checkpoint });
  }

  async compare(sessionId: string, endId: string): Promise<void> {
    const checkpoint = this.find(sessionId, endId);
    if (!checkpoint || !this.link) return;
    const { files } = await ask(this.link, "_hermes/checkpoints/diff", {
      sessionId: checkpoint.sessionId ?? sessionId,
      id: checkpoint.id,
    });
    const texts = files.filter((file) => !file.binary);
    await this.dialogs.showDiffs(
      texts.map(({ path, oldText, newText }) => ({ path, oldText: oldText ?? null, newText: newText ?? "" })),
      messages.CHANGES_OF_TURN,
    );
  }

  async undo(sessionId: string, endId: string): Promise<void> {
    const checkpoint = this.find(sessionId, endId);
    if (!checkpoint || !this.link || checkpoint.isRestored) return;
    const names = checkpoint.files.map(({ path }) => this.dialogs.nameOf(path)).join(", ");
    const question = messages.undoTurn(names);
    if (!(await this.dialogs.confirm(question, messages.UNDO))) return;
    if ((await this.restore(checkpoint.sessionId ?? sessionId, checkpoint.id)) === undefined) return;
    this.store.dispatch(sessionId, { type: "checkpoint", endId, checkpoint: { ...checkpoint, isRestored: true } });
  }

  /**
   * Undo a change. If somebody else has changed a file since, ask the user again first. Return the checkpoint that
   * reverts the undo, or undefined if nothing was done.
   */
  async restore(sessionId: string, id: string, force = false): Promise<string | undefined> {
    const { link } = this;
    if (!link) return undefined;
    const restored = await this.opened(link, sessionId, () =>
      ask(link, "_hermes/checkpoints/restore", { sessionId, id, force }),
    );
    const { conflicts, checkpointId } = restored;
    if (conflicts.length === 0) return checkpointId;
    const names = conflicts.map((each) => this.dialogs.nameOf(each.path)).join(", ");
    const question = messages.overwriteLater(names);
    return (await this.dialogs.confirm(question, messages.OVERWRITE)) ? this.restore(sessionId, id, true) : undefined;
  }

  /** Do something in an open session, opening it temporarily if necessary. */
  private async opened<T>(link: Link, sessionId: string, work: () => Promise<T>): Promise<T> {
    if (this.store.get(sessionId)) return work();
    const cwd = this.store.all().find(({ sources }) => sources.includes(sessionId))?.cwd;
    if (cwd === undefined) return work();
    await link.agent.request(methods.resume, { sessionId, cwd, mcpServers: [] });
    try {
      return await work();
    } finally {
      await link.agent.request(methods.close, { sessionId });
    }
  }

  private find(sessionId: string, endId: string): Checkpoint | undefined {
    const session = this.store.get(sessionId);
    return session && findItem(session, "end", endId)?.checkpoint;
  }
}
