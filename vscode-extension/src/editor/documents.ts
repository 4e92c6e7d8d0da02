/**
 * Files as the editor has them: unsaved text first, the disk behind it.
 *
 * Knows: open documents, the editor's file system. Does not know: who reads or writes, and why.
 */

import * as vscode from "vscode";

import { couldNotSave } from "../messages/errors";

/** Return the open document of a path, if there is one. */
export function openDocument(path: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.file(path).toString();
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === wanted && !each.isClosed);
}

/** Return a file's text, unsaved changes included; undefined where there is no such file. */
export async function readText(path: string): Promise<string | undefined> {
  const document = openDocument(path);
  if (document) return document.getText();
  try {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      await vscode.workspace.fs.readFile(vscode.Uri.file(path)),
    );
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
    throw error;
  }
}

/** Return what the disk has of a document; undefined where it has nothing. */
export async function diskText({ uri }: vscode.TextDocument): Promise<string | undefined> {
  try {
    return new TextDecoder("utf-8").decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return undefined;
  }
}

/** Make the file hold this text, in its open document where it has one, and save it. */
export async function writeText(path: string, text: string): Promise<void> {
  const document = openDocument(path);
  if (!document) {
    await vscode.workspace.fs.writeFile(vscode.Uri.file(path), new TextEncoder().encode(text));
    return;
  }
  await replaceText(document, text);
  if (document.isDirty && !(await document.save())) throw new Error(couldNotSave(path));
}

/** Make a document read `text`, touching only what differs, so that cursors and marks stay where they are. */
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
