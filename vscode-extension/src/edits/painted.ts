/**
 * Clean up documents in which earlier versions of this extension left lines that were only displayed.
 *
 * Reviews have separate pages now, so nothing is stored any more. The editor restores an unsaved document as it was at
 * some moment of the last seconds, so lines that were shown recently may reappear, even those of a finished review.
 */

import { createHash } from "node:crypto";

import * as vscode from "vscode";

import { diskText, openDocument, replaceText } from "../editor/documents";
import type { Memory } from "../state/memory";

interface Kept {
  /** Hashes of the texts with which the document was shown, the newest last. */
  readonly shown: readonly string[];
  /** The text without displayed lines; after the end of a review, the text on disk is used instead. */
  readonly clean?: string;
}

const PAINTED = "painted";

/** Remove displayed lines from documents that the editor restored. Other texts are left alone. */
export async function cleanUpPainted(memory: Memory): Promise<void> {
  const files = Object.entries(memory.get<Record<string, Kept>>(PAINTED) ?? {});
  for (const [path, { shown, clean }] of files) {
    const document = openDocument(path) ?? (await documentAt(path));
    if (!document || !shown.includes(hashOf(document.getText()))) continue;
    const text = clean ?? (await diskText(document));
    if (text === undefined) continue;
    await replaceText(document, text);
    await document.save();
  }
  if (files.length > 0) memory.set(PAINTED, undefined);
}

async function documentAt(path: string): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  } catch {
    return undefined;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text.replace(/\r\n/g, "\n")).digest("base64url").slice(0, 22);
}
