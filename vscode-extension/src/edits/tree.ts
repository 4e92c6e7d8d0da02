/** The tree of pending edits: files with their open hunks. */

import { basename } from "node:path";

import * as vscode from "vscode";

import { pendingEdits, SHOW_HUNK, toReview } from "../messages/editor";
import { describe } from "./hunks";
import { targetOf, type Target } from "./marks";
import type { Review, Reviews } from "./reviews";

export type Node = { readonly review: Review; readonly hunk?: number };

export class EditTree implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly reviews: Reviews) {
    const refresh = () => {
      this.changed.fire();
      void vscode.commands.executeCommand("setContext", "hermes.hasEdits", this.pending().length > 0);
    };
    reviews.listen({ onReview: refresh, onOver: refresh, onDecided: () => undefined });
  }

  /** Create the view, which shows the number of open hunks on the Source Control icon. */
  createView(): vscode.Disposable {
    const view = vscode.window.createTreeView("hermes.edits", { treeDataProvider: this, showCollapseAll: true });
    const count = () => {
      const open = this.pending().flatMap(({ verdicts }) => verdicts.filter((verdict) => verdict === "open")).length;
      view.badge = open > 0 ? { value: open, tooltip: pendingEdits(open) } : undefined;
    };
    return vscode.Disposable.from(view, this.onDidChangeTreeData(count));
  }

  /** Return the reviews with open hunks. */
  pending(): readonly Review[] {
    return this.reviews.all().filter((review) => review.verdicts.includes("open"));
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.pending().map((review) => ({ review }));
    if (node.hunk !== undefined) return [];
    return node.review.verdicts.flatMap((verdict, hunk) => (verdict === "open" ? [{ review: node.review, hunk }] : []));
  }

  getTreeItem({ review, hunk }: Node): vscode.TreeItem {
    const uri = vscode.Uri.file(review.diff.path);
    const open: Target = targetOf(review, hunk ?? 0);
    const item = new vscode.TreeItem(basename(review.diff.path), vscode.TreeItemCollapsibleState.Expanded);
    item.command = { command: "hermes.edits.show", title: SHOW_HUNK, arguments: [open] };
    if (hunk === undefined) {
      const count = review.verdicts.filter((verdict) => verdict === "open").length;
      item.resourceUri = uri;
      item.description = toReview(vscode.workspace.asRelativePath(uri, false), count);
      item.contextValue = "file";
      return item;
    }
    item.label = describe(review.hunks[hunk] ?? { oldStart: 0, oldLines: [], newStart: 0, newLines: [] });
    item.collapsibleState = vscode.TreeItemCollapsibleState.None;
    item.iconPath = new vscode.ThemeIcon("diff-modified");
    item.contextValue = "hunk";
    return item;
  }
}
