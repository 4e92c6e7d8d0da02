/** Commands for reviewing hunks, at the cursor, from a code lens or from the tree, and for navigating between them. */

import * as vscode from "vscode";

import { openDocument } from "../editor/documents";
import * as messages from "../messages/editor";
import type { Verdict } from "../state/terms";
import { showDiff } from "./compare";
import type { DocumentReviews } from "./documents";
import { targetOf, type Target } from "./marks";
import { pageUri, REVIEW_SCHEME } from "./pages";
import type { Review, Reviews } from "./reviews";
import type { EditTree, Node } from "./tree";
import { VerdictHistory } from "./verdict_history";

const STATUS_MS = 5000;

type Given = Target | Node | undefined;

export class EditCommands {
  private readonly history: VerdictHistory;

  constructor(
    private readonly reviews: Reviews,
    private readonly documents: DocumentReviews,
    private readonly tree: EditTree,
  ) {
    this.history = new VerdictHistory(reviews);
  }

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
      on("list", () => vscode.commands.executeCommand("hermes.edits.focus")),
      on("save", () => this.save()),
      on("undo", () => this.undo()),
      on("openFile", (given) => this.openFile(given)),
      this.documents.onDidChange(() => this.setContext()),
      vscode.window.onDidChangeActiveTextEditor(() => this.setContext()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === REVIEW_SCHEME) this.setContext();
      }),
    ];
  }

  private judge(given: Given, verdict: Verdict): void {
    const target = this.targetOf(given);
    const review = target && this.reviews.find(target, target.path);
    // A code lens may be clicked just before it disappears.
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

  /** Return the target hunk: the given one, or else the one at the cursor or the next one below. */
  private targetOf(given: Given): Target | undefined {
    if (given && "callId" in given) return given;
    if (given && "review" in given) return targetOf(given.review, given.hunk ?? given.review.verdicts.indexOf("open"));
    const editor = vscode.window.activeTextEditor;
    const leads = editor && this.documents.reviewOf(editor.document);
    if (leads) return targetOf(leads, leads.verdicts.indexOf("open"));
    const shown = editor && this.documents.blocksOf(editor.document);
    if (!shown) return undefined;
    const line = editor.selection.active.line;
    const block = shown.blocks.find((each) => line < each.line + each.gone + each.come) ?? shown.blocks.at(-1);
    return block && targetOf(shown.review, block.hunk);
  }

  /** Go to the next or previous hunk, continuing from the last hunk of a file to the first of the next file. */
  private async go(step: 1 | -1): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const leads = editor && this.documents.reviewOf(editor.document);
    if (leads) return this.show(edgeOf(leads, step));
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
    if (target && review) await this.documents.reveal(review, target.hunk);
  }

  /** Open the file itself, without the proposed changes. */
  private async openFile(given: Given): Promise<void> {
    const target = this.targetOf(given);
    if (target) await vscode.window.showTextDocument(vscode.Uri.file(target.path), { preview: false });
  }

  /** Save the file of a page. The page itself is not a file, and VS Code would ask for a name. */
  private async save(): Promise<void> {
    const review = this.reviewShown();
    const document = review && openDocument(review.diff.path);
    if (document?.isDirty) await document.save();
    vscode.window.setStatusBarMessage(messages.PAGE_NOT_SAVED, STATUS_MS);
  }

  /** Undo the last verdict on the shown page, because a page itself has nothing to undo. */
  private undo(): void {
    const review = this.reviewShown();
    const isUndone = review !== undefined && this.history.undo(review);
    const why = review?.when === "after" ? messages.UNDO_IN_FILE : messages.NOTHING_TO_UNDO;
    vscode.window.setStatusBarMessage(isUndone ? messages.DECISION_UNDONE : why, STATUS_MS);
  }

  /** Return the review whose page is the active editor. */
  private reviewShown(): Review | undefined {
    const uri = vscode.window.activeTextEditor?.document.uri;
    return this.reviews.all().find(({ diff }) => pageUri(diff.path).toString() === uri?.toString());
  }

  private setContext(): void {
    const editor = vscode.window.activeTextEditor;
    const shown = editor && this.documents.blocksOf(editor.document);
    const isPage = shown !== undefined && !shown.isDraft && shown.blocks.length > 0;
    const leads = editor !== undefined && this.documents.reviewOf(editor.document) !== undefined;
    void vscode.commands.executeCommand("setContext", "hermes.isReviewPage", isPage);
    void vscode.commands.executeCommand("setContext", "hermes.fileHasEdits", isPage || leads);
  }
}

function edgeOf(review: Review, step: 1 | -1): Target {
  const hunk = step > 0 ? review.verdicts.indexOf("open") : review.verdicts.lastIndexOf("open");
  return targetOf(review, hunk);
}
