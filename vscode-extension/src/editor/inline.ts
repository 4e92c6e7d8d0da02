/**
 * The inline command: an instruction on the selected lines, answered by hunks in place.
 *
 * Knows: the selection and how it is described to the agent. Does not know: how hunks are judged.
 */

import * as vscode from "vscode";

import type { Engine } from "../engine";
import { selectionOf } from "./mentions";

export function registerInline({ desk, front }: Engine): readonly vscode.Disposable[] {
  const edit = async () => {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.uri.scheme !== "file") return;
    if (editor.selection.isEmpty) {
      const line = editor.document.lineAt(editor.selection.active.line);
      editor.selection = new vscode.Selection(line.range.start, line.range.end);
    }
    const mention = selectionOf(editor);
    const instruction = await vscode.window.showInputBox({
      title: `Edit ${mention.label}`,
      prompt: "What should change here? Enter to ask Hermes, Escape to leave.",
      ignoreFocusOut: true,
    });
    if (!instruction?.trim()) return;
    const aside = `Change only these lines of ${mention.detail} (${mention.label}), with one edit.`;
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "Hermes edits" }, () =>
      desk.prompt(front.shown, instruction.trim(), [mention], [], aside),
    );
  };
  return [vscode.commands.registerCommand("hermes.editInline", edit)];
}
