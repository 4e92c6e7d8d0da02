/** Files that are attached to a prompt: chosen in a dialog, or dropped onto the panel. */

import { extname } from "node:path";

import * as vscode from "vscode";

import { ATTACH, tooLargePicture } from "../messages/editor";
import type { ToView } from "../panel/protocol";
import { fileOf } from "./mention_of";

const PICTURES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const MAX_PICTURE = 5_000_000;
const MAX_FILES = 20;

/** Let the user choose files. */
export async function pickFiles(): Promise<readonly vscode.Uri[]> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const chosen = await vscode.window.showOpenDialog({
    canSelectMany: true,
    openLabel: ATTACH,
    ...(folder ? { defaultUri: folder } : {}),
  });
  return chosen ?? [];
}

/** Add files to the prompt: pictures as attachments, others as mentions. */
export async function attachFiles(uris: readonly vscode.Uri[], answer: (message: ToView) => void): Promise<void> {
  for (const uri of uris.slice(0, MAX_FILES)) {
    const stat = await vscode.workspace.fs.stat(uri);
    const mimeType = PICTURES[extname(uri.path).toLowerCase()];
    if (mimeType && stat.size > MAX_PICTURE) {
      void vscode.window.showWarningMessage(tooLargePicture(vscode.workspace.asRelativePath(uri, false)));
    } else if (mimeType) {
      const data = Buffer.from(await vscode.workspace.fs.readFile(uri)).toString("base64");
      answer({ type: "insertPicture", picture: { mimeType, data } });
    } else {
      const kind = stat.type & vscode.FileType.Directory ? "folder" : "file";
      answer({ type: "insert", mention: fileOf(uri, kind) });
    }
  }
}
