/**
 * The inline command: an instruction for the selected lines, answered by hunks in place.
 *
 * Its key depends only on the position of the text cursor: other context keys change a little later than the file, and
 * until then the key would have the editor's own meaning.
 */

import * as vscode from "vscode";

import type { Engine } from "../engine";
import { editOnlySelection } from "../messages/agent";
import * as messages from "../messages/editor";
import { selectionOf } from "./mention_of";

export function registerInline({ apart, documents }: Engine): readonly vscode.Disposable[] {
  const edit = async () => {
    const editor = vscode.window.activeTextEditor;
    // The agent cannot see documents that are not files, so the key keeps its usual meaning there.
    if (!editor || editor.document.uri.scheme !== "file") return suggest();
    if (!vscode.workspace.isTrusted) return tellOfTrust();
    const before = editor.selection;
    if (before.isEmpty) {
      const line = editor.document.lineAt(before.start.line);
      editor.selection = new vscode.Selection(line.range.start, line.range.end);
    }
    const mention = selectionOf(editor);
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    const instruction = await askForInstruction(mention.label);
    // The selected text is about to change.
    editor.selection = instruction?.trim() ? new vscode.Selection(before.start, before.start) : before;
    if (!instruction?.trim()) return;
    documents.expect(editor.document.uri.fsPath);
    const aside = editOnlySelection(mention.detail, mention.label);
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: messages.EDITING }, () =>
      apart.prompt(instruction.trim(), { mentions: [mention], aside }),
    );
  };
  return [vscode.commands.registerCommand("hermes.editInline", edit)];
}

/**
 * Ask for the instruction, or return undefined if cancelled. VS Code puts the box over the top of the editor. A list
 * without entries is one line high and leaves the text below it free; an input box is three, and covers the first lines
 * of a file.
 */
async function askForInstruction(place: string): Promise<string | undefined> {
  const box = vscode.window.createQuickPick();
  box.placeholder = messages.editInlinePlaceholder(place);
  box.ignoreFocusOut = true;
  try {
    return await new Promise((resolve) => {
      box.onDidAccept(() => resolve(box.value));
      box.onDidHide(() => resolve(undefined));
      box.show();
    });
  } finally {
    box.dispose();
  }
}

async function suggest(): Promise<void> {
  await vscode.commands.executeCommand("editor.action.triggerSuggest");
}

async function tellOfTrust(): Promise<void> {
  const chosen = await vscode.window.showInformationMessage(messages.UNTRUSTED_NO_EDITS, messages.MANAGE_TRUST);
  if (chosen === messages.MANAGE_TRUST) await vscode.commands.executeCommand("workbench.trust.manage");
}
