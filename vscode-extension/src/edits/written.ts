/**
 * Edits that were written without a question, as the server keeps them: shown for review, judged there.
 *
 * Knows: `_hermes/edits/list` and `_hermes/edits/judge`, when to look again. Does not know: how hunks are drawn.
 * What is open is the server's to say, so it survives a reload of the window and a restart of the server.
 */

import type { Link } from "../acp/link";
import { announces, ask } from "../acp/methods";
import type { EditsJudgedParams, EditsListFile } from "../acp/own";
import type { Verdict } from "../state/terms";
import type { Review, Reviews } from "./reviews";

export class WrittenEdits {
  private link: Link | undefined;
  /** One question at a time: verdicts name hunks by their places, which each verdict changes. */
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

  /** Look at what is open in a session; asked for again meanwhile, it is looked at once. */
  refresh(sessionId: string): Promise<void> {
    if (!this.link || !this.isWanted() || this.waiting.has(sessionId)) return this.queue;
    this.waiting.add(sessionId);
    return this.enqueue(async (link) => {
      this.waiting.delete(sessionId);
      const { files } = await ask(link, "_hermes/edits/list", { sessionId });
      this.show(sessionId, files);
    });
  }

  /** Somebody judged: where the editor shows something else than is open now, it is looked at again. */
  receive({ sessionId, path, open }: EditsJudgedParams): void {
    // What this editor said itself it knows; its answer comes behind this notice.
    void this.enqueue(() => {
      const shown = this.written(sessionId).filter(({ diff }) => diff.path === path);
      const count = shown.flatMap(({ verdicts }) => verdicts.filter((each) => each === "open")).length;
      if (count !== open) void this.refresh(sessionId);
      return Promise.resolve();
    });
  }

  /** A file was saved: its user may have changed what is open in it. */
  noteSaved(path: string): void {
    for (const { sessionId, diff, when } of this.reviews.all()) {
      if (when === "after" && diff.path === path) void this.refresh(sessionId);
    }
  }

  /** Forget a session that is closed; what is open in it is there when it is opened again. */
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
