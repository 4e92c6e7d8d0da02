/** Files as seen by the editor: unsaved text first, then the disk. */

import * as vscode from "vscode";

import { couldNotSave } from "../messages/errors";

/** Return the open document of a path, if any. */
export function openDocument(path: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.file(path).toString();
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === wanted && !each.isClosed);
}

/** Return a file's text, including unsaved changes, or undefined if it does not exist. */
export async function readText(path: string): Promise<string | undefined> {
  const document = openDocument(path);
  if (document?.isDirty) return document.getText();
  const uri = vscode.Uri.file(path);
  try {
    // The document of a file that was deleted stays open with its last text.
    if (document) return (await vscode.workspace.fs.stat(uri)) && document.getText();
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await vscode.workspace.fs.readFile(uri));
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
    throw error;
  }
}

/** Return a document's text on disk, or undefined if it does not exist there. */
export async function diskText({ uri }: vscode.TextDocument): Promise<string | undefined> {
  try {
    return new TextDecoder("utf-8").decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return undefined;
  }
}

/** Write a text to a file, through its open document if any, and save it. */
export async function writeText(path: string, text: string): Promise<void> {
  const document = openDocument(path);
  if (!document) {
    await vscode.workspace.fs.writeFile(vscode.Uri.file(path), new TextEncoder().encode(text));
    return;
  }
  await replaceText(document, text);
  if (document.isDirty && !(await document.save())) throw new Error(couldNotSave(path));
}

/** Replace a document's text by `text`, changing only the differences, so that cursors and marks stay in place. */
export async function replaceText(document: vscode.TextDocument, text: string): Promise<boolean> {
  const before = document.getText();
  const wanted = document.eol === vscode.EndOfLine.CRLF ? text.replace(/\r?\n/g, "\r\n") : text.replace(/\r\n/g, "\n");
  if (before === wanted) return true;
  const edit = new vscode.WorkspaceEdit();
  const { start, endBefore, endAfter } = differing(before, wanted);
  const range = new vscode.Range(document.positionAt(start), document.positionAt(endBefore));
  edit.replace(document.uri, range, wanted.slice(start, endAfter));
  return vscode.workspace.applyEdit(edit);
}

function differing(before: string, after: string): { start: number; endBefore: number; endAfter: number } {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start += 1;
  let same = 0;
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { start, endBefore: before.length - same, endAfter: after.length - same };
}
