/** Actions on a code block in an answer: insert it, run it. Nothing runs unseen. */

import * as vscode from "vscode";

import * as messages from "../messages/editor";
import { commandsIn } from "./commands_in";

/** Invisible characters that a terminal interprets as commands. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

/** The number of lines that a dialog can show. */
const MAX_LINES = 30;
const MAX_CHARACTERS = 3000;

/** Insert code at the cursor, replacing the selection. */
export async function insertCode(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    void vscode.window.showInformationMessage(messages.NO_EDITOR_TO_INSERT);
    return;
  }
  await editor.edit((edit) => editor.selections.forEach((selection) => edit.replace(selection, text.trimEnd())));
  await vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn ?? vscode.ViewColumn.Active });
}

/** Run commands in the user's terminal, after the user has seen them in full and agreed. */
export async function runCode(text: string): Promise<void> {
  const command = commandsIn(text);
  const refusal = refusalOf(command);
  if (!command) return;
  if (refusal) {
    void vscode.window.showWarningMessage(refusal);
    return;
  }
  const asked = { modal: true, detail: command };
  if ((await vscode.window.showWarningMessage(messages.RUN_IN_TERMINAL, asked, messages.RUN)) !== messages.RUN) return;
  const terminal =
    vscode.window.terminals.find(({ name, exitStatus }) => name === messages.CODE_TERMINAL && !exitStatus) ??
    vscode.window.createTerminal(messages.CODE_TERMINAL);
  terminal.show();
  terminal.sendText(command);
}

/** Return why commands cannot be run, or undefined. */
function refusalOf(command: string): string | undefined {
  if (!vscode.workspace.isTrusted) return messages.UNTRUSTED_NO_RUN;
  if (UNSEEN.test(command)) return messages.HIDDEN_SIGNS;
  return command.length > MAX_CHARACTERS || command.split("\n").length > MAX_LINES
    ? messages.TOO_LONG_TO_RUN
    : undefined;
}

/** Return the file that code without a file name is most likely for: the active one. */
export function codeTarget(): string | undefined {
  const uri = (vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0])?.document.uri;
  return uri?.scheme === "file" ? vscode.workspace.asRelativePath(uri, false) : undefined;
}
