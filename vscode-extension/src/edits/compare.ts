/** Show the agent's changes in the editor's own diff view. */

import { basename } from "node:path";

import * as vscode from "vscode";

import { diffTitle } from "../messages/editor";
import type { FileDiff } from "../state/terms";

export const SCHEME = "hermes-diff";
const MAX_KEPT = 40;

/** Texts for the diff view, by URI. */
class Texts implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private count = 0;

  put(path: string, text: string): vscode.Uri {
    this.count += 1;
    const uri = vscode.Uri.from({ scheme: SCHEME, path, query: String(this.count) });
    this.texts.set(uri.toString(), text);
    const oldest = this.texts.keys().next();
    if (this.texts.size > MAX_KEPT && !oldest.done) this.texts.delete(oldest.value);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }
}

const texts = new Texts();

export function registerTexts(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, texts);
}

export async function showDiff({ path, oldText, newText }: FileDiff, title: string): Promise<void> {
  const [left, right] = [texts.put(path, oldText ?? ""), texts.put(path, newText)];
  await vscode.commands.executeCommand("vscode.diff", left, right, title || diffTitle(basename(path)), {
    preview: true,
  });
}

/** Show several files' changes in one editor. */
export async function showDiffs(diffs: readonly FileDiff[], title: string): Promise<void> {
  const rows = diffs.map(({ path, oldText, newText }) => [
    vscode.Uri.file(path),
    texts.put(path, oldText ?? ""),
    texts.put(path, newText),
  ]);
  await vscode.commands.executeCommand("vscode.changes", title, rows);
}
