/**
 * Reviews in the documents themselves: hunks drawn into them, followed, decided, and never written to a disk half-way.
 *
 * Knows: which documents show what, saves, reloads. Does not know: lenses, colours, who decides.
 */

import * as vscode from "vscode";

import { openDocument, replaceText } from "../editor/documents";
import { showDiff } from "./compare";
import type { Memory } from "../state/memory";
import { decide, draw, follow, type Block } from "./inplace";
import type { Review, Reviews } from "./reviews";

/** One document under review. `shown` is its text as this extension left it. */
interface Page {
  review: Review;
  readonly document: vscode.TextDocument;
  readonly wasDirty: boolean;
  shown: string;
  blocks: readonly Block[];
  isTyped: boolean;
  /** Decided, and not written yet by the agent. */
  isSettling: boolean;
}

interface Painted {
  readonly shown: string;
  readonly clean: string;
}

const PAINTED = "painted";

export class DocumentReviews implements vscode.Disposable {
  private readonly pages = new Map<string, Page>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  /** One change of documents at a time; verdicts may come faster than edits are applied. */
  private queue: Promise<void> = Promise.resolve();
  private isOwnEdit = false;
  readonly onDidChange = this.changed.event;

  constructor(
    reviews: Reviews,
    private readonly memory: Memory,
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
      vscode.workspace.onDidCloseTextDocument((document) => this.onClose(document)),
    ];
    this.enqueue(() => this.cleanUp());
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Give the blocks that a document shows. */
  blocksOf(document: vscode.TextDocument): { readonly review: Review; readonly blocks: readonly Block[] } | undefined {
    const page = this.pages.get(document.uri.fsPath);
    return page && page.document === document ? { review: page.review, blocks: page.blocks } : undefined;
  }

  /** Give the text of a file as an agent may know it; undefined for a file that is under no review. */
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
    if (page.document.isDirty && !(await page.document.save())) throw new Error(`The editor could not save ${path}.`);
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

  private async show(review: Review): Promise<void> {
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
    const page: Page = {
      review,
      document,
      wasDirty: document.isDirty,
      shown: document.getText(),
      blocks: [],
      isTyped: false,
      isSettling: false,
    };
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
    await this.putBack(page, text);
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
    this.changed.fire();
    this.remember();
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
    if (!page || page.document !== document || this.isOwnEdit || contentChanges.length === 0) return;
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
    page.blocks = [];
    page.isTyped = true;
    event.waitUntil(Promise.resolve([vscode.TextEdit.replace(whole, text)]));
    this.changed.fire();
  }

  private onClose(document: vscode.TextDocument): void {
    const page = this.pages.get(document.uri.fsPath);
    if (page?.document === document && !page.isSettling) this.drop(page);
  }

  private remember(): void {
    const painted = [...this.pages.values()]
      .filter((page) => page.blocks.length > 0)
      .map((page): [string, Painted] => [
        page.review.diff.path,
        { shown: page.document.getText(), clean: this.cleanText(page) },
      ]);
    this.memory.set(PAINTED, painted.length > 0 ? Object.fromEntries(painted) : undefined);
  }

  /** After a reload no review is left: take its lines out of the documents that the editor brought back. */
  private async cleanUp(): Promise<void> {
    const painted = this.memory.get<Record<string, Painted>>(PAINTED) ?? {};
    for (const [path, { shown, clean }] of Object.entries(painted)) {
      const document = openDocument(path) ?? (await vscode.workspace.openTextDocument(vscode.Uri.file(path)));
      if (isSameText(document.getText(), shown)) {
        await replaceText(document, clean);
        await document.save();
      }
    }
    this.memory.set(PAINTED, undefined);
  }
}

function sideOf(review: Review, hunk: number): "old" | "new" | "both" {
  const verdict = review.verdicts[hunk] ?? "open";
  return verdict === "open" ? "both" : verdict === "accepted" ? "new" : "old";
}

function isSameText(one: string, other: string): boolean {
  return one.replace(/\r\n/g, "\n") === other.replace(/\r\n/g, "\n");
}
