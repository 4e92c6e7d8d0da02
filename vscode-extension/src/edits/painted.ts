/**
 * What was drawn into documents, kept so that a reload of the window can take it out again.
 *
 * Knows: texts that a document was shown with, and what it is without. Does not know: hunks, who decides.
 * The editor brings an unsaved document back as it was at some moment of the last seconds, not as it was last: whatever
 * was shown lately may be there again, even of a review that is over by then.
 */

import { createHash } from "node:crypto";

import * as vscode from "vscode";

import { diskText, openDocument, replaceText } from "../editor/documents";
import type { Memory } from "../state/memory";

interface Kept {
  /** Hashes of the texts it was shown with, the newest last. */
  readonly shown: readonly string[];
  /** The text without what is only shown; of a review that is over the disk has it. */
  readonly clean?: string;
}

const PAINTED = "painted";
const MAX_TEXTS = 64;
const MAX_FILES = 40;

export class Painted {
  private readonly files: Map<string, Kept>;

  constructor(private readonly memory: Memory) {
    this.files = new Map(Object.entries(memory.get<Record<string, Kept>>(PAINTED) ?? {}));
  }

  /** Note that a document shows `shown`, and would be `clean` without its hunks. */
  note(path: string, shown: string, clean: string): void {
    const before = this.files.get(path);
    const hash = hashOf(shown);
    if (before?.clean === clean && before.shown.at(-1) === hash) return;
    const older = (before?.shown ?? []).filter((each) => each !== hash);
    this.put(path, { shown: [...older, hash].slice(-MAX_TEXTS), clean });
  }

  /** The review of a file is over: what the disk has is what counts. */
  end(path: string): void {
    const before = this.files.get(path);
    if (before?.clean !== undefined) this.put(path, { shown: before.shown });
  }

  private put(path: string, kept: Kept): void {
    this.files.delete(path);
    this.files.set(path, kept);
    for (const [oldest, { clean }] of this.files) {
      if (this.files.size <= MAX_FILES) break;
      if (clean === undefined) this.files.delete(oldest);
    }
    this.keep();
  }

  private keep(): void {
    this.memory.set(PAINTED, this.files.size > 0 ? Object.fromEntries(this.files) : undefined);
  }

  /** Take it out of the documents that the editor brought back; a text that nobody drew is left alone. */
  async cleanUp(): Promise<void> {
    const files = [...this.files];
    for (const [path, { shown, clean }] of files) {
      const document = openDocument(path) ?? (await documentAt(path));
      if (!document || !shown.includes(hashOf(document.getText()))) continue;
      const text = clean ?? (await diskText(document));
      if (text === undefined) continue;
      await replaceText(document, text);
      await document.save();
    }
    for (const [path] of files) this.files.delete(path);
    this.keep();
  }
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
