/**
 * Reviews as documents: show hunks, update drafts, apply decisions, and merge what was typed in the file in the
 * meantime.
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
  /** Still being written. Nothing can be reviewed yet, and the review that follows replaces it. */
  isDraft: boolean;
}

/** A file whose edit is decided but not yet written by the agent. */
interface Settling {
  readonly callId: string;
  /** The file's content as known to the agent. */
  readonly oldText: string;
  /** The content of its document at the time of the decision. */
  readonly seen: string | undefined;
}

/** The part of a review that a page shows. Drafts cannot be reviewed yet. */
export interface ShownBlocks {
  readonly review: Review;
  readonly blocks: readonly Block[];
  readonly isDraft: boolean;
}

/** The maximum number of pages that open on their own. */
const MAX_OPENED = 8;

export class DocumentReviews implements vscode.Disposable {
  private readonly shown = new Map<string, Page>();
  private readonly settling = new Map<string, Settling>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** Serialises changes of pages, because verdicts may arrive faster than pages are drawn. */
  private queue: Promise<void> = Promise.resolve();
  /** By path, the newest state of an edit being written that waits to be drawn. */
  private readonly growing = new Map<string, Growing>();
  /** The file in which an edit was requested at the cursor. Its page takes over the file's focus. */
  private asked = "";
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly reviews: Reviews,
    private readonly pages: ReviewPages,
    /** Whether the panel has the keyboard focus and must keep it. */
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

  /** Return the blocks that a page shows, or undefined while it is out of date. */
  blocksOf(document: vscode.TextDocument): ShownBlocks | undefined {
    const page = [...this.shown.values()].find(
      ({ review }) => pageUri(review.diff.path).toString() === document.uri.toString(),
    );
    if (!page || !isSameText(page.text, document.getText())) return undefined;
    return { review: page.review, blocks: page.blocks, isDraft: page.isDraft };
  }

  /** Return the review of a file, for the link in its document. */
  reviewOf(document: vscode.TextDocument): Review | undefined {
    if (document.uri.scheme !== "file") return undefined;
    const page = this.shown.get(document.uri.fsPath);
    return page && !page.isDraft ? page.review : undefined;
  }

  /** Expect an edit that was requested at the cursor in a file. */
  expect(path: string): void {
    this.asked = path;
  }

  /** Wait until all pages are up to date. */
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

  /** Return a file's text as known to the agent if it is about to change, or undefined. */
  read(path: string): string | undefined {
    return this.settling.get(path)?.oldText;
  }

  /** Write the decided text, keeping what was typed since. Return false for a file without a decision. */
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

  /** A call has ended, so stop waiting for permitted changes that it did not write. */
  settle(callId: string): void {
    for (const [path, each] of [...this.settling]) if (each.callId === callId) this.settling.delete(path);
  }

  /** Show a growing edit on its page while it is being written, if its file is visible. */
  grow(sessionId: string, cwd: string, named: string, growing: Growing): void {
    const path = resolve(cwd, named);
    if (!this.growing.has(path)) this.enqueue(() => this.showGrowing(sessionId, path));
    this.growing.set(path, growing);
  }

  /** A turn has ended, or its drafts were abandoned. Close its drafts. */
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
    // The review was decided in the meantime, and its end follows.
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
   * Note that the accepted text of a file is written next. If the user has typed in the file in the meantime, return the merged text;
   * if both changed the same lines, note nothing: the agent then finds that the file has changed, and writes nothing.
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

/** Return whether the settings allow a file's page to open on its own. */
function isOpenedFor(path: string): boolean {
  return vscode.workspace.getConfiguration("hermes", vscode.Uri.file(path)).get<boolean>("edits.showInEditor", true);
}

/** Merge the decided and the typed text, with the line breaks of their common base. */
function mergeTyped(base: string, decided: string, typed: string): string | undefined {
  return merge(base, decided, base.includes("\r\n") ? typed : typed.replace(/\r\n/g, "\n"));
}
