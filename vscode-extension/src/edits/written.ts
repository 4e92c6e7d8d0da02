/**
 * Edits made without asking, stored by the server: shown here for review, with verdicts sent to the server.
 *
 * The server decides what is open, so reviews survive a window reload and a server restart.
 */

import type { Link } from "../acp/link";
import { announces, ask } from "../acp/methods";
import type { EditsJudgedParams, EditsListFile } from "../acp/own";
import type { Verdict } from "../state/terms";
import type { Review, Reviews } from "./reviews";

export class WrittenEdits {
  private link: Link | undefined;
  /** Serialises requests, because verdicts refer to hunks by index, which each verdict changes. */
  private queue: Promise<void> = Promise.resolve();
  private readonly waiting = new Set<string>();

  constructor(
    private readonly reviews: Reviews,
    private readonly isWanted: () => boolean,
    private readonly log: (warning: string) => void,
  ) {
    reviews.listen({
      onReview: () => undefined,
      onOver: () => undefined,
      onDecided: () => undefined,
      onVerdict: (review, hunks, verdict) => this.notify(review, hunks, verdict),
    });
  }

  adopt(link: Link): void {
    this.link = announces(link, "reviews") ? link : undefined;
  }

  /** Refresh a session's open hunks. Concurrent requests are combined. */
  refresh(sessionId: string): Promise<void> {
    if (!this.link || !this.isWanted() || this.waiting.has(sessionId)) return this.queue;
    this.waiting.add(sessionId);
    return this.enqueue(async (link) => {
      this.waiting.delete(sessionId);
      const { files } = await ask(link, "_hermes/edits/list", { sessionId });
      this.show(sessionId, files);
    });
  }

  /** Somebody reviewed hunks. If the editor's state differs, refresh it. */
  receive({ sessionId, path, open }: EditsJudgedParams): void {
    // This editor knows its own verdicts, whose response arrives after this notification.
    void this.enqueue(() => {
      const shown = this.written(sessionId).filter(({ diff }) => diff.path === path);
      const count = shown.flatMap(({ verdicts }) => verdicts.filter((each) => each === "open")).length;
      if (count !== open) void this.refresh(sessionId);
      return Promise.resolve();
    });
  }

  /** A file was saved, or changed on disk, and with it perhaps its open hunks. */
  noteChanged(path: string): void {
    for (const { sessionId, diff, when } of this.reviews.all()) {
      if (when === "after" && diff.path === path) void this.refresh(sessionId);
    }
  }

  /** Drop a closed session. Its open hunks are loaded again when it is reopened. */
  drop(sessionId: string): void {
    for (const review of this.written(sessionId)) this.reviews.discard(review);
  }

  private written(sessionId: string): readonly Review[] {
    return this.reviews.all().filter((each) => each.when === "after" && each.sessionId === sessionId);
  }

  private show(sessionId: string, files: readonly EditsListFile[]): void {
    const listed = new Set(files.map(({ path }) => path));
    for (const review of this.written(sessionId)) {
      if (!listed.has(review.diff.path)) this.reviews.discard(review);
    }
    for (const file of files) {
      const diff = { path: file.path, oldText: file.oldText, newText: file.newText ?? "" };
      this.reviews.resume({ sessionId, callIds: file.callIds, diff, hunks: file.hunks });
    }
  }

  private notify(review: Review, hunks: readonly number[], verdict: Verdict): void {
    if (review.when !== "after" || verdict === "open") return;
    // The server counts what is still open.
    const before = (hunk: number) => review.verdicts.slice(0, hunk).filter((each) => each === "open").length;
    const numbers = hunks.map(before);
    const { sessionId, diff } = review;
    void this.enqueue(async (link) => {
      const said = { sessionId, path: diff.path, verdict, hunks: numbers, isDone: verdict === "accepted" };
      const { open } = await ask(link, "_hermes/edits/judge", said);
      const here = this.written(sessionId).flatMap(({ verdicts }) => verdicts.filter((each) => each === "open"));
      if (open !== here.length && !this.waiting.has(sessionId)) void this.refresh(sessionId);
    });
  }

  private enqueue(work: (link: Link) => Promise<void>): Promise<void> {
    const link = this.link;
    if (!link) return this.queue;
    this.queue = this.queue
      .then(() => (link.isClosed ? undefined : work(link)))
      .catch((error: unknown) => this.log(String(error)));
    return this.queue;
  }
}
