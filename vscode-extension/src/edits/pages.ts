/**
 * The pages that show reviews: separate documents that cannot be edited, undone or saved.
 *
 * A file's own document never contains lines that are only displayed, so they can be neither saved nor restored by
 * undo.
 */

import { posix } from "node:path";

import * as vscode from "vscode";

import { openDocument } from "../editor/documents";
import { reviewTitle } from "../messages/editor";

export const REVIEW_SCHEME = "hermes-review";
/** How long to wait for a text to be shown. After that, the caller continues, and a later text replaces it. */
const SHOW_MS = 1000;

export class ReviewPages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(REVIEW_SCHEME, this);

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }

  /** Set the text of a file's page, and wait until it is shown if the page is open. */
  async put(path: string, text: string): Promise<void> {
    const uri = pageUri(path);
    if (this.texts.get(uri.toString()) === text) return;
    this.texts.set(uri.toString(), text);
    const document = findDocument(uri);
    if (!document || isSameText(document.getText(), text)) return;
    const shown = textShown(document, text);
    this.changed.fire(uri);
    await shown;
  }

  /** Open the page of a file in the file's editor group, and return its editor. */
  async open(path: string, line: number, takesFocus: boolean): Promise<vscode.TextEditor> {
    const page = await vscode.workspace.openTextDocument(pageUri(path));
    const languageId = await languageOf(path);
    if (languageId && page.languageId !== languageId) await vscode.languages.setTextDocumentLanguage(page, languageId);
    const place = new vscode.Range(line, 0, line, 0);
    return vscode.window.showTextDocument(pageUri(path), {
      preserveFocus: !takesFocus,
      preview: false,
      selection: place,
      viewColumn: columnOf(path),
    });
  }

  isOpen(path: string): boolean {
    return tabsOf(path).length > 0;
  }

  count(): number {
    return allTabs().filter((tab) => uriOf(tab)?.scheme === REVIEW_SCHEME).length;
  }

  /** Close the page of a file. With `keepsFocus`, the focus does not move. */
  async close(path: string, keepsFocus: boolean): Promise<void> {
    const tabs = tabsOf(path);
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, keepsFocus);
    this.texts.delete(pageUri(path).toString());
  }
}

/** Return the address of a file's page. */
export function pageUri(path: string): vscode.Uri {
  const { path: file } = vscode.Uri.file(path);
  const name = posix.join(posix.dirname(file), reviewTitle(posix.basename(file)));
  return vscode.Uri.from({ scheme: REVIEW_SCHEME, path: name });
}

export function isSameText(one: string, other: string): boolean {
  return one.replace(/\r\n/g, "\n") === other.replace(/\r\n/g, "\n");
}

function findDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString() && !each.isClosed);
}

function textShown(document: vscode.TextDocument, text: string): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      changes.dispose();
      closed.dispose();
      resolve();
    };
    const timer = setTimeout(end, SHOW_MS);
    const changes = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === document && isSameText(document.getText(), text)) end();
    });
    const closed = vscode.workspace.onDidCloseTextDocument((each) => each === document && end());
  });
}

async function languageOf(path: string): Promise<string | undefined> {
  const open = openDocument(path);
  if (open) return open.languageId;
  try {
    return (await vscode.workspace.openTextDocument(vscode.Uri.file(path))).languageId;
  } catch {
    // The name of the page already says that the file is only proposed.
    return undefined;
  }
}

function columnOf(path: string): vscode.ViewColumn {
  const files = [vscode.Uri.file(path).toString(), pageUri(path).toString()];
  const visible = vscode.window.visibleTextEditors;
  const editor = visible.find(({ document }) => files.includes(document.uri.toString())) ?? visible[0];
  return editor?.viewColumn ?? vscode.ViewColumn.One;
}

function allTabs(): readonly vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
}

function uriOf({ input }: vscode.Tab): vscode.Uri | undefined {
  return input instanceof vscode.TabInputText ? input.uri : undefined;
}

function tabsOf(path: string): readonly vscode.Tab[] {
  const wanted = pageUri(path).toString();
  return allTabs().filter((tab) => uriOf(tab)?.toString() === wanted);
}
