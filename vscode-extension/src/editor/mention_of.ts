/** Places in the editor as mentions. */

import { basename } from "node:path";

import * as vscode from "vscode";

import type { Mention } from "../panel/protocol";

/** Mention the selected lines of an editor. */
export function selectionOf(editor: vscode.TextEditor): Mention {
  const { start, end } = editor.selection;
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  const name = vscode.workspace.asRelativePath(editor.document.uri, false);
  const lines = start.line + 1 === last ? `${last}` : `${start.line + 1}-${last}`;
  const uri = editor.document.uri.with({ fragment: `L${start.line + 1}-L${last}` }).toString();
  return {
    kind: "selection",
    token: `${basename(name)}:${lines}`,
    label: `${basename(name)}:${lines}`,
    detail: name,
    uri,
  };
}

/** Mention a whole file or folder. */
export function fileOf(uri: vscode.Uri, kind: "file" | "folder" = "file"): Mention {
  const name = vscode.workspace.asRelativePath(uri, false);
  return {
    kind,
    token: kind === "folder" ? `${name}/` : name,
    label: basename(name),
    detail: name,
    uri: uri.toString(),
  };
}
