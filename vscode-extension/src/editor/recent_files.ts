/** Open and recently viewed files. */

import * as vscode from "vscode";

const MAX_RECENT = 50;

export class RecentFiles implements vscode.Disposable {
  /** The newest first. */
  private seen: readonly string[] = [];
  private readonly subscription: vscode.Disposable;

  constructor() {
    this.note(vscode.window.activeTextEditor);
    this.subscription = vscode.window.onDidChangeActiveTextEditor((editor) => this.note(editor));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  open(): readonly vscode.Uri[] {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    return tabs.flatMap(({ input }) =>
      input instanceof vscode.TabInputText && input.uri.scheme === "file" ? [input.uri] : [],
    );
  }

  recent(): readonly vscode.Uri[] {
    return this.seen.map((each) => vscode.Uri.parse(each));
  }

  /** Return how many files were viewed since this one, or undefined if it was not viewed. */
  seenAgo(uri: vscode.Uri): number | undefined {
    const at = this.seen.indexOf(uri.toString());
    return at < 0 ? undefined : at;
  }

  private note(editor: vscode.TextEditor | undefined): void {
    if (editor?.document.uri.scheme !== "file") return;
    const uri = editor.document.uri.toString();
    this.seen = [uri, ...this.seen.filter((each) => each !== uri)].slice(0, MAX_RECENT);
  }
}
