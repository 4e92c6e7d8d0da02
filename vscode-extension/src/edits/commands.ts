/**
 * Judging hunks by command: at the caret, from a lens, from the tree; and going from one to the next.
 *
 * Knows: which hunk is meant. Does not know: what follows from a verdict.
 */

import * as vscode from "vscode";

import type { Verdict } from "../state/terms";
import { showDiff } from "./compare";
import type { DocumentReviews } from "./documents";
import { targetOf, type Target } from "./marks";
import type { Review, Reviews } from "./reviews";
import type { EditTree, Node } from "./tree";

type Given = Target | Node | undefined;

export class EditCommands {
  constructor(
    private readonly reviews: Reviews,
    private readonly documents: DocumentReviews,
    private readonly tree: EditTree,
  ) {}

  register(): readonly vscode.Disposable[] {
    const on = (name: string, work: (given: Given) => unknown) =>
      vscode.commands.registerCommand(`hermes.edits.${name}`, work);
    return [
      on("acceptHunk", (given) => this.judge(given, "accepted")),
      on("rejectHunk", (given) => this.judge(given, "rejected")),
      on("acceptFile", (given) => this.judgeFile(given, "accepted")),
      on("rejectFile", (given) => this.judgeFile(given, "rejected")),
      on("acceptAll", () => this.reviews.judgeAll("accepted")),
      on("rejectAll", () => this.reviews.judgeAll("rejected")),
      on("next", () => this.go(1)),
      on("previous", () => this.go(-1)),
      on("show", (given) => this.show(this.targetOf(given))),
      on("compare", (given) => this.compare(given)),
      this.documents.onDidChange(() => this.setContext()),
      vscode.window.onDidChangeActiveTextEditor(() => this.setContext()),
    ];
  }

  private judge(given: Given, verdict: Verdict): void {
    const target = this.targetOf(given);
    const review = target && this.reviews.find(target, target.path);
    // A lens may be clicked that is about to go.
    if (target && review?.verdicts[target.hunk] === "open") {
      this.reviews.judge(target, target.path, target.hunk, verdict);
    }
  }

  private judgeFile(given: Given, verdict: Verdict): void {
    const target = this.targetOf(given);
    if (target) this.reviews.judgeFile(target, target.path, verdict);
  }

  private async compare(given: Given): Promise<void> {
    const target = this.targetOf(given);
    const review = target && this.reviews.find(target, target.path);
    if (review) await showDiff(review.diff, "");
  }

  /** Return which hunk is meant: the one given, else the one at the caret or the next below it. */
  private targetOf(given: Given): Target | undefined {
    if (given && "callId" in given) return given;
    if (given && "review" in given) return targetOf(given.review, given.hunk ?? given.review.verdicts.indexOf("open"));
    const editor = vscode.window.activeTextEditor;
    const shown = editor && this.documents.blocksOf(editor.document);
    if (!shown) return undefined;
    const line = editor.selection.active.line;
    const block = shown.blocks.find((each) => line < each.line + each.gone + each.come) ?? shown.blocks.at(-1);
    return block && targetOf(shown.review, block.hunk);
  }

  /** Go to the next or previous hunk; from the last of a file to the first of the next file. */
  private async go(step: 1 | -1): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const shown = editor && this.documents.blocksOf(editor.document);
    const line = editor?.selection.active.line ?? -1;
    const blocks = shown?.blocks ?? [];
    const next = step > 0 ? blocks.find((block) => block.line > line) : blocks.findLast((block) => block.line < line);
    if (shown && next) return this.show(targetOf(shown.review, next.hunk));
    const pending = this.tree.pending();
    const at = pending.findIndex((review) => review.key === shown?.review.key);
    const other = pending.at((at + step + pending.length) % Math.max(1, pending.length));
    if (other) await this.show(edgeOf(other, step));
  }

  private async show(target: Target | undefined): Promise<void> {
    const review = target && this.reviews.find(target, target.path);
    if (!target || !review) return;
    if (review.diff.oldText === null) return showDiff(review.diff, "");
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(target.path), { preview: false });
    const block = this.documents.blocksOf(editor.document)?.blocks.find((each) => each.hunk === target.hunk);
    if (!block) return showDiff(review.diff, "");
    const start = new vscode.Position(block.line, 0);
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private setContext(): void {
    const editor = vscode.window.activeTextEditor;
    const shown = editor && this.documents.blocksOf(editor.document);
    const count = shown && !shown.isDraft ? shown.blocks.length : 0;
    void vscode.commands.executeCommand("setContext", "hermes.fileHasEdits", count > 0);
  }
}

function edgeOf(review: Review, step: 1 | -1): Target {
  const hunk = step > 0 ? review.verdicts.indexOf("open") : review.verdicts.lastIndexOf("open");
  return targetOf(review, hunk);
}
