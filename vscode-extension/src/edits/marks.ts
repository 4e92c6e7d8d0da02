/**
 * Hunks in a document made visible: red and green lines, signs in the gutter, lenses above them.
 *
 * Knows: decorations and lenses. Does not know: how hunks came into the document.
 */

import * as vscode from "vscode";

import * as messages from "../messages/editor";
import type { DocumentReviews } from "./documents";
import type { Block } from "./inplace";
import type { Review } from "./reviews";

interface Types {
  readonly come: vscode.TextEditorDecorationType;
  readonly gone: vscode.TextEditorDecorationType;
}

/** Themes of high contrast have no colours behind lines; there a line around them says the same. */
function typesFor(media: vscode.Uri): Types {
  const { kind } = vscode.window.activeColorTheme;
  const isContrast = kind === vscode.ColorThemeKind.HighContrast || kind === vscode.ColorThemeKind.HighContrastLight;
  const typeOf = (name: string, what: "inserted" | "removed") =>
    vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      backgroundColor: new vscode.ThemeColor(`diffEditor.${what}LineBackground`),
      overviewRulerColor: new vscode.ThemeColor(`diffEditorOverview.${what}Foreground`),
      overviewRulerLane: vscode.OverviewRulerLane.Full,
      gutterIconPath: vscode.Uri.joinPath(media, `${name}.svg`),
      gutterIconSize: "contain",
      ...(isContrast
        ? { outline: "1px dashed", outlineColor: new vscode.ThemeColor(`diffEditor.${what}TextBorder`) }
        : {}),
    });
  return { come: typeOf("come", "inserted"), gone: typeOf("gone", "removed") };
}

function disposeOf({ come, gone }: Types): void {
  come.dispose();
  gone.dispose();
}

/** What commands on hunks are told they are about. */
export interface Target {
  readonly sessionId: string;
  readonly callId: string;
  readonly path: string;
  readonly hunk: number;
}

export class Marks implements vscode.CodeLensProvider, vscode.Disposable {
  private types: Types;
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeCodeLenses: vscode.Event<void>;

  constructor(
    private readonly documents: DocumentReviews,
    private readonly media: vscode.Uri,
  ) {
    this.types = typesFor(media);
    this.onDidChangeCodeLenses = documents.onDidChange;
    this.subscriptions = [
      documents.onDidChange(() => this.paint()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.paint()),
      vscode.window.onDidChangeActiveColorTheme(() => this.renew()),
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
    ];
  }

  private renew(): void {
    disposeOf(this.types);
    this.types = typesFor(this.media);
    this.paint();
  }

  dispose(): void {
    disposeOf(this.types);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private paint(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const blocks = this.documents.blocksOf(editor.document)?.blocks ?? [];
      editor.setDecorations(
        this.types.gone,
        blocks.flatMap((block) => lines(block.line, block.gone)),
      );
      editor.setDecorations(
        this.types.come,
        blocks.flatMap((block) => lines(block.line + block.gone, block.come)),
      );
    }
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const shown = this.documents.blocksOf(document);
    if (!shown) return [];
    const { review, blocks, isDraft } = shown;
    if (isDraft) return blocks.slice(0, 1).map(({ line }) => new vscode.CodeLens(rangeAt(line), WRITING));
    return blocks.flatMap((block, at) => [
      ...lensesOf(block, targetOf(review, block.hunk)),
      ...(at === 0 && blocks.length > 1 ? lensesOfFile(block, targetOf(review, block.hunk), blocks.length) : []),
    ]);
  }
}

export function targetOf(review: Review, hunk: number): Target {
  return { sessionId: review.sessionId, callId: review.callId, path: review.diff.path, hunk };
}

function lines(first: number, count: number): readonly vscode.Range[] {
  return count > 0 ? [new vscode.Range(first, 0, first + count - 1, 0)] : [];
}

const WRITING: vscode.Command = { command: "", title: messages.WRITING_LENS };

const rangeAt = (line: number): vscode.Range => new vscode.Range(line, 0, line, 0);

function lensesOf(block: Block, target: Target): readonly vscode.CodeLens[] {
  const range = rangeAt(block.line);
  const lens = (command: string, title: string) => new vscode.CodeLens(range, { command, title, arguments: [target] });
  return [lens("hermes.edits.acceptHunk", messages.ACCEPT_LENS), lens("hermes.edits.rejectHunk", messages.REJECT_LENS)];
}

function lensesOfFile(block: Block, target: Target, count: number): readonly vscode.CodeLens[] {
  const range = rangeAt(block.line);
  const lens = (command: string, title: string) => new vscode.CodeLens(range, { command, title, arguments: [target] });
  return [
    lens("hermes.edits.acceptFile", messages.acceptAllLens(count)),
    lens("hermes.edits.rejectFile", messages.rejectAllLens(count)),
  ];
}
