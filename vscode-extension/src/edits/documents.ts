/**
 * Reviews in the documents themselves: hunks drawn into them, followed, decided, and never written to a disk half-way.
 *
 * Knows: which documents show what, saves, reloads. Does not know: lenses, colours, who decides.
 */

import * as vscode from "vscode";

import { diskText, replaceText } from "../editor/documents";
import { couldNotSave } from "../messages/errors";
import { showDiff } from "./compare";
import { growingHunks, type Growing } from "./growing";
import { decide, draw, follow, type Block } from "./inplace";
import type { Painted } from "./painted";
import type { Review, Reviews } from "./reviews";

/** One document under review. `shown` is its text as this extension left it. */
interface Page {
  review: Review;
  readonly document: vscode.TextDocument;
  readonly wasDirty: boolean;
  shown: string;
  blocks: readonly Block[];
  isTyped: boolean;
  /** Still being written: nothing is judged, and the review that follows takes its place. */
  isDraft: boolean;
  /** Decided, and not written yet by the agent. */
  isSettling: boolean;
  /** What it showed before it was saved without the hunks: shown again behind that. */
  saving?: { readonly clean: string; readonly shown: string; readonly blocks: readonly Block[] } | undefined;
}

/** What a document shows of a review; of a draft nothing can be judged yet. */
export interface ShownBlocks {
  readonly review: Review;
  readonly blocks: readonly Block[];
  readonly isDraft: boolean;
}

export class DocumentReviews implements vscode.Disposable {
  private readonly pages = new Map<string, Page>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  /** One change of documents at a time; verdicts may come faster than edits are applied. */
  private queue: Promise<void> = Promise.resolve();
  private isOwnEdit = false;
  /** By path: the newest state of an edit that is being written, while it waits to be drawn. */
  private readonly growing = new Map<string, Growing>();
  readonly onDidChange = this.changed.event;

  constructor(
    reviews: Reviews,
    private readonly painted: Painted,
  ) {
    reviews.listen({
      onReview: (review) => this.enqueue(() => this.show(review)),
      onOver: (review) => this.enqueue(() => this.finish(review)),
      onDecided: () => undefined,
    });
    reviews.textOf = (review) => this.typedText(review);
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidChangeTextDocument((event) => this.onChange(event)),
      vscode.workspace.onWillSaveTextDocument((event) => this.onWillSave(event)),
      vscode.workspace.onDidSaveTextDocument((document) => this.enqueue(() => this.showAgain(document))),
      vscode.workspace.onDidCloseTextDocument((document) => this.onClose(document)),
    ];
    this.enqueue(() => painted.cleanUp());
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Return the blocks that a document shows. */
  blocksOf(document: vscode.TextDocument): ShownBlocks | undefined {
    const page = this.pages.get(document.uri.fsPath);
    if (page?.document !== document) return undefined;
    return { review: page.review, blocks: page.blocks, isDraft: page.isDraft };
  }

  /** Whether a file's open hunks stand in its document. */
  isShown(path: string): boolean {
    return this.pages.has(path);
  }

  /** Wait until documents are as they are meant to be. */
  async settled(): Promise<void> {
    await this.queue;
  }

  /** Return the text of a file as an agent may know it; undefined for a file that is under no review. */
  read(path: string): string | undefined {
    const page = this.pages.get(path);
    if (!page) return undefined;
    if (page.review.when === "before") return page.review.diff.oldText ?? undefined;
    return this.cleanText(page);
  }

  /** Write what was decided into its document and end the review; false for a file under none. */
  async write(path: string, text: string): Promise<boolean> {
    await this.queue;
    const page = this.pages.get(path);
    if (!page) return false;
    this.drop(page);
    await this.edit(page, text);
    if (page.document.isDirty && !(await page.document.save())) throw new Error(couldNotSave(path));
    return true;
  }

  /** A call is over: what it was allowed and did not write is taken out of its documents again. */
  settle(callId: string): void {
    this.enqueue(async () => {
      for (const page of [...this.pages.values()]) {
        if (page.review.callId !== callId || !page.isSettling) continue;
        this.drop(page);
        await this.putBack(page, page.review.diff.oldText ?? "");
      }
    });
  }

  private enqueue(work: () => Promise<void>): void {
    this.queue = this.queue.then(work).catch(() => undefined);
  }

  /** Let an edit grow in its document while it is written, where the document is in sight. */
  grow(sessionId: string, path: string, growing: Growing): void {
    if (!this.growing.has(path)) this.enqueue(() => this.showGrowing(sessionId, path));
    this.growing.set(path, growing);
  }

  /** A turn is over, or what it wrote came to nothing: what is left of its drafts is taken out again. */
  endDrafts(sessionId: string): void {
    this.enqueue(async () => {
      for (const page of [...this.pages.values()]) {
        if (page.isDraft && page.review.sessionId === sessionId) await this.endDraft(page);
      }
    });
  }

  private async showGrowing(sessionId: string, path: string): Promise<void> {
    const growing = this.growing.get(path);
    this.growing.delete(path);
    const page = this.pages.get(path) ?? this.openDraft(sessionId, path);
    if (!growing || !page?.isDraft || page.isTyped) return;
    const base = page.review.diff.oldText ?? "";
    const hunks = growingHunks(base, growing);
    if (!hunks) return;
    const next = draw(base, hunks, []);
    page.blocks = next.blocks;
    await this.edit(page, next.text);
    this.changed.fire();
    this.remember();
  }

  private openDraft(sessionId: string, path: string): Page | undefined {
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.fsPath === path);
    const settings = vscode.workspace.getConfiguration(undefined, vscode.Uri.file(path));
    const isSafe =
      settings.get<boolean>("hermes.edits.showInEditor", true) && settings.get("files.autoSave", "off") === "off";
    if (!editor || !isSafe || editor.document.uri.scheme !== "file") return undefined;
    const { document } = editor;
    const oldText = document.getText().replace(/\r\n/g, "\n");
    const diff = { path, oldText, newText: oldText };
    const review: Review = {
      key: `draft ${path}`,
      sessionId,
      callId: "",
      when: "before",
      diff,
      hunks: [],
      verdicts: [],
    };
    const page = pageOf(review, document, true);
    this.pages.set(path, page);
    return page;
  }

  private async endDraft(page: Page): Promise<void> {
    this.drop(page);
    await this.putBack(page, decide(page.document.getText(), page.blocks, () => "old").text);
  }

  private async show(review: Review): Promise<void> {
    const draft = this.pages.get(review.diff.path);
    if (draft?.isDraft) {
      if (draft.isTyped || !isSameText(draft.review.diff.oldText ?? "", review.diff.oldText ?? "")) {
        await this.endDraft(draft);
      } else {
        draft.review = review;
        draft.isDraft = false;
      }
    }
    const page = this.pages.get(review.diff.path) ?? (await this.open(review));
    if (!page || page.review.key !== review.key) return;
    page.review = review;
    const next = page.isTyped
      ? decide(page.document.getText(), page.blocks, (hunk) => sideOf(review, hunk))
      : draw(review.diff.oldText ?? "", review.hunks, review.verdicts);
    page.blocks = next.blocks;
    await this.edit(page, next.text);
    this.changed.fire();
    this.remember();
    // What is taken out of a file that is written already is out of it on the disk too.
    const isTakenBack = review.when === "after" && review.verdicts.includes("rejected");
    if (isTakenBack && review.verdicts.includes("open") && !page.wasDirty) await page.document.save();
  }

  /** Begin to show a review in its document, where that is safe; else in the diff view. */
  private async open(review: Review): Promise<Page | undefined> {
    const { diff } = review;
    const uri = vscode.Uri.file(diff.path);
    const settings = vscode.workspace.getConfiguration(undefined, uri);
    if (diff.oldText === null || !settings.get<boolean>("hermes.edits.showInEditor", true)) return undefined;
    const isFresh = review.verdicts.every((verdict) => verdict === "open");
    if (!isFresh) return undefined;
    if (settings.get<string>("files.autoSave", "off") !== "off") {
      if (review.when === "before") await showDiff(diff, "");
      return undefined;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    const expected = review.when === "before" ? diff.oldText : diff.newText;
    if (!isSameText(document.getText(), expected)) return undefined;
    const page = { ...pageOf(review, document, false), wasDirty: await isUnsaved(document) };
    this.pages.set(diff.path, page);
    const column = vscode.window.visibleTextEditors[0]?.viewColumn ?? vscode.ViewColumn.One;
    const editor = await vscode.window.showTextDocument(document, {
      preserveFocus: true,
      preview: false,
      viewColumn: column,
    });
    const line = review.hunks[0]?.oldStart ?? 0;
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return page;
  }

  private async finish(review: Review): Promise<void> {
    const page = this.pages.get(review.diff.path);
    if (!page || page.review.key !== review.key) return;
    const isTaken = review.verdicts.includes("accepted") && !review.verdicts.includes("open");
    if (review.when === "before" && isTaken) {
      page.isSettling = true;
      this.changed.fire();
      return;
    }
    this.drop(page);
    const side = review.when === "before" ? "old" : "new";
    const text = decide(page.document.getText(), page.blocks, () => side).text;
    const isTakenAway = review.when === "after" && review.verdicts.includes("open") && !page.isTyped;
    if (isTakenAway && !isSameText((await diskText(page.document)) ?? text, text)) await revert(page.document);
    else await this.putBack(page, text);
  }

  /** Leave a document as it would be without the review, saved if it was saved. */
  private async putBack(page: Page, text: string): Promise<void> {
    await this.edit(page, text);
    if (page.wasDirty || !page.document.isDirty) return;
    const isActive = vscode.window.activeTextEditor?.document === page.document;
    if (page.review.when === "before" && !page.isTyped && isActive) {
      // The disk holds this very text; going back to it leaves alone what a save would do besides.
      await vscode.commands.executeCommand("workbench.action.files.revert");
    } else if (!page.isTyped || page.review.when === "after") {
      await page.document.save();
    }
  }

  private drop(page: Page): void {
    this.pages.delete(page.review.diff.path);
    this.painted.end(page.review.diff.path);
    this.changed.fire();
  }

  private async edit(page: Page, text: string): Promise<void> {
    this.isOwnEdit = true;
    try {
      await replaceText(page.document, text);
      page.shown = page.document.getText();
    } finally {
      this.isOwnEdit = false;
    }
  }

  private typedText(review: Review): string | undefined {
    const page = this.pages.get(review.diff.path);
    if (!page?.isTyped || page.review.key !== review.key) return undefined;
    return decide(page.document.getText(), page.blocks, (hunk) => sideOf(review, hunk)).text;
  }

  private cleanText(page: Page): string {
    const side = page.review.when === "before" ? "old" : "new";
    return decide(page.document.getText(), page.blocks, () => side).text;
  }

  private onChange({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const page = this.pages.get(document.uri.fsPath);
    if (!page || page.document !== document || this.isOwnEdit || page.saving || contentChanges.length === 0) return;
    page.isTyped = true;
    // Changes come from the end of the document to its beginning, or were made one after the other.
    for (const { range, text } of contentChanges) {
      const typing = { first: range.start.line, last: range.end.line, lines: text.split("\n").length };
      page.blocks = follow(page.blocks, typing);
    }
    this.changed.fire();
    this.remember();
  }

  /** A file is never saved with lines in it that only show what goes. */
  private onWillSave(event: vscode.TextDocumentWillSaveEvent): void {
    const page = this.pages.get(event.document.uri.fsPath);
    if (!page || page.document !== event.document || page.blocks.length === 0) return;
    const text = this.cleanText(page);
    const whole = new vscode.Range(0, 0, event.document.lineCount, 0);
    page.saving = { clean: text, shown: event.document.getText(), blocks: page.blocks };
    page.blocks = [];
    event.waitUntil(Promise.resolve([vscode.TextEdit.replace(whole, text)]));
    this.changed.fire();
  }

  /** Bring back the hunks that were taken out for a save; where that changed more, they are gone. */
  private async showAgain(document: vscode.TextDocument): Promise<void> {
    const page = this.pages.get(document.uri.fsPath);
    if (!page?.saving || page.document !== document) return;
    const { clean, shown, blocks } = page.saving;
    page.saving = undefined;
    if (isSameText(document.getText(), clean)) {
      page.blocks = blocks;
      await this.edit(page, shown);
    } else {
      page.isTyped = true;
    }
    this.changed.fire();
    this.remember();
  }

  private onClose(document: vscode.TextDocument): void {
    const page = this.pages.get(document.uri.fsPath);
    if (page?.document === document && !page.isSettling) this.drop(page);
  }

  private remember(): void {
    for (const page of this.pages.values()) {
      if (page.blocks.length === 0) continue;
      const { when, diff } = page.review;
      // What was only accepted so far is nowhere: after a reload nobody would write the rest of it.
      const isUntouched = when === "before" && !page.isTyped && !page.isDraft;
      const clean = isUntouched ? (diff.oldText ?? "") : this.cleanText(page);
      this.painted.note(diff.path, page.document.getText(), clean);
    }
  }
}

function pageOf(review: Review, document: vscode.TextDocument, isDraft: boolean): Page {
  const [wasDirty, shown] = [document.isDirty, document.getText()];
  return { review, document, wasDirty, shown, blocks: [], isTyped: false, isDraft, isSettling: false };
}

/**
 * Tell whether a document holds what its file does not. A window that was reloaded may bring a document back as unsaved that is as
 * its file is; a save takes nothing from anybody then.
 */
async function isUnsaved(document: vscode.TextDocument): Promise<boolean> {
  return document.isDirty && !isSameText((await diskText(document)) ?? "", document.getText());
}

/** What counts is what the disk has: somebody else judged there. */
async function revert(document: vscode.TextDocument): Promise<void> {
  await vscode.window.showTextDocument(document, { preview: false });
  await vscode.commands.executeCommand("workbench.action.files.revert");
}

function sideOf(review: Review, hunk: number): "old" | "new" | "both" {
  const verdict = review.verdicts[hunk] ?? "open";
  return verdict === "open" ? "both" : verdict === "accepted" ? "new" : "old";
}

function isSameText(one: string, other: string): boolean {
  return one.replace(/\r\n/g, "\n") === other.replace(/\r\n/g, "\n");
}
