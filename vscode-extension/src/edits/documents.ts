/**
 * Reviews as documents: hunks drawn, grown, decided; and what a decision means where somebody typed in the file meanwhile.
 *
 * Knows: which page shows what, which files wait to be written. Does not know: lenses, colours, who decides.
 */

import { resolve } from "node:path";

import * as vscode from "vscode";

import { openDocument, writeText } from "../editor/documents";
import { changedMeanwhile } from "../messages/agent";
import { growingHunks, type Growing } from "./growing";
import { textWith } from "./hunks";
import { draw, type Block } from "./inplace";
import { merge } from "./merge";
import { isSameText, pageUri, type ReviewPages } from "./pages";
import type { Review, Reviews } from "./reviews";

/** One file under review, as its page shows it. */
interface Page {
  review: Review;
  text: string;
  blocks: readonly Block[];
  /** Still being written: nothing is judged, and the review that follows takes its place. */
  isDraft: boolean;
}

/** A file whose edit is decided, and not written yet by the agent. */
interface Settling {
  readonly callId: string;
  /** What the agent knows the file as. */
  readonly oldText: string;
  /** What its document held when it was decided. */
  readonly seen: string | undefined;
}

/** What a page shows of a review; of a draft nothing can be judged yet. */
export interface ShownBlocks {
  readonly review: Review;
  readonly blocks: readonly Block[];
  readonly isDraft: boolean;
}

/** More pages than this are opened only when somebody goes there. */
const MAX_OPENED = 8;

export class DocumentReviews implements vscode.Disposable {
  private readonly shown = new Map<string, Page>();
  private readonly settling = new Map<string, Settling>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** One change of pages at a time; verdicts may come faster than pages are drawn. */
  private queue: Promise<void> = Promise.resolve();
  /** By path: the newest state of an edit that is being written, while it waits to be drawn. */
  private readonly growing = new Map<string, Growing>();
  /** The file in which an edit was asked for at the cursor: its page takes the focus that the file had. */
  private asked = "";
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly reviews: Reviews,
    private readonly pages: ReviewPages,
    /** Whether keys go to the panel, which keeps them. */
    private readonly panelHasFocus: () => boolean,
  ) {
    reviews.listen({
      onReview: (review) => this.enqueue(() => this.show(review)),
      onOver: (review) => this.enqueue(() => this.finish(review)),
      onDecided: () => undefined,
    });
    reviews.textOf = (review) => this.decidedText(review);
  }

  dispose(): void {
    this.changed.dispose();
    this.pages.dispose();
  }

  /** Return the blocks that a page shows; undefined while it still shows something older. */
  blocksOf(document: vscode.TextDocument): ShownBlocks | undefined {
    const page = [...this.shown.values()].find(
      ({ review }) => pageUri(review.diff.path).toString() === document.uri.toString(),
    );
    if (!page || !isSameText(page.text, document.getText())) return undefined;
    return { review: page.review, blocks: page.blocks, isDraft: page.isDraft };
  }

  /** Return the review of a file that its document, which shows nothing of it, can lead to. */
  reviewOf(document: vscode.TextDocument): Review | undefined {
    if (document.uri.scheme !== "file") return undefined;
    const page = this.shown.get(document.uri.fsPath);
    return page && !page.isDraft ? page.review : undefined;
  }

  /** Expect an edit that was asked for at the cursor in a file. */
  expect(path: string): void {
    this.asked = path;
  }

  /** Wait until pages are as they are meant to be. */
  async settled(): Promise<void> {
    await this.queue;
  }

  /** Open the page of a review at one of its hunks, and give it the focus. */
  async reveal(review: Review, hunk: number): Promise<void> {
    await this.queue;
    if (this.shown.get(review.diff.path)?.review.key !== review.key) await this.draw(review);
    const block = this.shown.get(review.diff.path)?.blocks.find((each) => each.hunk === hunk);
    await this.pages.open(review.diff.path, block?.line ?? 0, true);
    this.changed.fire();
  }

  /** Return the text of a file as the agent knows it, where that is about to be changed; else undefined. */
  read(path: string): string | undefined {
    return this.settling.get(path)?.oldText;
  }

  /** Write what was decided; what was typed since is kept. False for a file for which nothing was decided. */
  async write(path: string, text: string): Promise<boolean> {
    await this.queue;
    const settling = this.settling.get(path);
    if (!settling) return false;
    this.settling.delete(path);
    const now = openDocument(path)?.getText();
    if (now === undefined || settling.seen === undefined || isSameText(now, settling.seen)) {
      await writeText(path, text);
      return true;
    }
    const merged = mergeTyped(settling.seen, text, now);
    if (merged === undefined) throw new Error(changedMeanwhile(path));
    await writeText(path, merged);
    return true;
  }

  /** A call is over: what it was allowed and did not write is not waited for any more. */
  settle(callId: string): void {
    for (const [path, each] of [...this.settling]) if (each.callId === callId) this.settling.delete(path);
  }

  /** Let an edit grow on its page while it is written, where its file is in sight. */
  grow(sessionId: string, cwd: string, named: string, growing: Growing): void {
    const path = resolve(cwd, named);
    if (!this.growing.has(path)) this.enqueue(() => this.showGrowing(sessionId, path));
    this.growing.set(path, growing);
  }

  /** A turn is over, or what it wrote came to nothing: its drafts are closed. */
  endDrafts(sessionId: string): void {
    this.enqueue(async () => {
      for (const page of [...this.shown.values()]) {
        if (page.isDraft && page.review.sessionId === sessionId) await this.close(page);
      }
    });
  }

  private enqueue(work: () => Promise<void>): void {
    this.queue = this.queue.then(work).catch(() => undefined);
  }

  private async showGrowing(sessionId: string, path: string): Promise<void> {
    const growing = this.growing.get(path);
    this.growing.delete(path);
    const page = this.shown.get(path) ?? draftOf(sessionId, path);
    if (!growing || !page?.isDraft) return;
    const base = page.review.diff.oldText ?? "";
    const hunks = growingHunks(base, growing);
    if (!hunks || hunks.length === 0) return;
    const next = draw(base, hunks, []);
    const isFirst = !this.shown.has(path);
    this.shown.set(path, Object.assign(page, next));
    await this.pages.put(path, next.text);
    if (isFirst) await this.open(page);
    this.changed.fire();
  }

  private async show(review: Review): Promise<void> {
    const { path } = review.diff;
    const before = this.shown.get(path);
    if (before && !before.isDraft && before.review.key !== review.key) return;
    // What was decided meanwhile is over; its end comes next.
    if (this.reviews.find(review, path) === undefined) return;
    const page = await this.draw(review);
    const isFresh = review.verdicts.every((verdict) => verdict === "open");
    if (!before && isFresh && isOpenedFor(path) && this.pages.count() < MAX_OPENED) await this.open(page);
    this.changed.fire();
  }

  private async draw(review: Review): Promise<Page> {
    const { path, oldText } = review.diff;
    const page: Page = { review, isDraft: false, ...draw(oldText ?? "", review.hunks, review.verdicts) };
    this.shown.set(path, page);
    await this.pages.put(path, page.text);
    return page;
  }

  private async open({ review, blocks }: Page): Promise<void> {
    const { path } = review.diff;
    const takesFocus = this.asked === path && !this.panelHasFocus();
    await this.pages.open(path, blocks[0]?.line ?? 0, takesFocus);
  }

  private async finish(review: Review): Promise<void> {
    const page = this.shown.get(review.diff.path);
    if (page?.review.key !== review.key) return;
    const next = this.reviews.forFile(review.diff.path);
    if (!next) return this.close(page);
    this.shown.delete(review.diff.path);
    await this.draw(next);
    this.changed.fire();
  }

  private async close({ review }: Page): Promise<void> {
    const { path } = review.diff;
    this.shown.delete(path);
    const hasFocus = vscode.window.activeTextEditor?.document.uri.toString() === pageUri(path).toString();
    await this.pages.close(path, !hasFocus || this.panelHasFocus());
    if (this.asked === path) this.asked = "";
    this.changed.fire();
  }

  /**
   * Note that what is taken of a file is written next, and return that text where its user typed in the file meanwhile. Where both
   * changed the same lines nothing is noted: the agent then finds that the file has changed, and writes nothing.
   */
  private decidedText(review: Review): string | undefined {
    const { when, callId, diff, hunks, verdicts } = review;
    const { path, oldText } = diff;
    if (when === "after" || oldText === null || !verdicts.includes("accepted")) return undefined;
    const seen = openDocument(path)?.getText();
    if (seen === undefined || isSameText(seen, oldText)) {
      this.settling.set(path, { callId, oldText, seen });
      return undefined;
    }
    const text = mergeTyped(oldText, textWith(oldText, hunks, verdicts), seen);
    if (text !== undefined) this.settling.set(path, { callId, oldText, seen });
    return text;
  }
}

function draftOf(sessionId: string, path: string): Page | undefined {
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.fsPath === path);
  if (editor?.document.uri.scheme !== "file" || !isOpenedFor(path)) return undefined;
  const oldText = editor.document.getText().replace(/\r\n/g, "\n");
  const diff = { path, oldText, newText: oldText };
  const key = `draft ${path}`;
  const review: Review = { key, sessionId, callId: "", when: "before", diff, hunks: [], verdicts: [] };
  return { review, text: "", blocks: [], isDraft: true };
}

/** Return whether the settings let the page of a file open by itself. */
function isOpenedFor(path: string): boolean {
  return vscode.workspace.getConfiguration("hermes", vscode.Uri.file(path)).get<boolean>("edits.showInEditor", true);
}

/** Put together what was decided and what was typed; line ends are as those of the text both are made of. */
function mergeTyped(base: string, decided: string, typed: string): string | undefined {
  return merge(base, decided, base.includes("\r\n") ? typed : typed.replace(/\r\n/g, "\n"));
}
