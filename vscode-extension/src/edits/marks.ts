/**
 * Decorate hunks on a page: red and green lines, changed words, gutter icons, code lenses. Text on red and green uses
 * the editor's foreground colour, because the theme's syntax colours are chosen for its own background.
 */

import * as vscode from "vscode";

import * as messages from "../messages/editor";
import type { DocumentReviews } from "./documents";
import type { Block } from "./inplace";
import { REVIEW_SCHEME } from "./pages";
import type { Review } from "./reviews";
import { changedWords, type WordPlace } from "./words";

interface Types {
  readonly come: vscode.TextEditorDecorationType;
  readonly gone: vscode.TextEditorDecorationType;
  /** Lines of a new file, marked only by gutter icons, so that they keep their colours. */
  readonly created: vscode.TextEditorDecorationType;
  readonly text: vscode.TextEditorDecorationType;
  readonly wordCome: vscode.TextEditorDecorationType;
  readonly wordGone: vscode.TextEditorDecorationType;
}

/** High contrast themes have no background colours, so borders mark the lines instead. */
function typesFor(media: vscode.Uri): Types {
  const { kind } = vscode.window.activeColorTheme;
  const isContrast = kind === vscode.ColorThemeKind.HighContrast || kind === vscode.ColorThemeKind.HighContrastLight;
  const typeOf = (name: string, what: "inserted" | "removed", hasGround = true) =>
    vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      ...(hasGround ? { backgroundColor: new vscode.ThemeColor(`diffEditor.${what}LineBackground`) } : {}),
      overviewRulerColor: new vscode.ThemeColor(`diffEditorOverview.${what}Foreground`),
      overviewRulerLane: vscode.OverviewRulerLane.Full,
      gutterIconPath: vscode.Uri.joinPath(media, `${name}.svg`),
      gutterIconSize: "contain",
      ...(isContrast
        ? { outline: "1px dashed", outlineColor: new vscode.ThemeColor(`diffEditor.${what}TextBorder`) }
        : {}),
    });
  const wordTypeOf = (what: "inserted" | "removed") =>
    vscode.window.createTextEditorDecorationType({
      backgroundColor: new vscode.ThemeColor(`diffEditor.${what}TextBackground`),
      ...(isContrast
        ? { border: "1px solid", borderColor: new vscode.ThemeColor(`diffEditor.${what}TextBorder`) }
        : {}),
    });
  return {
    come: typeOf("come", "inserted"),
    gone: typeOf("gone", "removed"),
    created: typeOf("come", "inserted", false),
    text: vscode.window.createTextEditorDecorationType(
      isContrast ? {} : { color: new vscode.ThemeColor("editor.foreground") },
    ),
    wordCome: wordTypeOf("inserted"),
    wordGone: wordTypeOf("removed"),
  };
}

function disposeOf(types: Types): void {
  for (const type of Object.values(types) as readonly vscode.TextEditorDecorationType[]) type.dispose();
}

/** The argument of commands on hunks. */
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
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === REVIEW_SCHEME) this.paint();
      }),
      vscode.window.onDidChangeActiveColorTheme(() => this.renew()),
      vscode.languages.registerCodeLensProvider([{ scheme: REVIEW_SCHEME }, { scheme: "file" }], this),
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
      if (editor.document.uri.scheme === REVIEW_SCHEME) this.paintOn(editor);
    }
  }

  private paintOn(editor: vscode.TextEditor): void {
    const shown = this.documents.blocksOf(editor.document);
    // A page that is about to change is decorated afterwards.
    if (!shown) return;
    const { blocks, review } = shown;
    const words = blocks.map((block) => {
      const hunk = review.hunks[block.hunk];
      const changed = hunk && !shown.isDraft ? changedWords(hunk) : undefined;
      const below = block.line + block.gone;
      return { gone: wordRanges(changed?.gone, block.line), come: wordRanges(changed?.come, below) };
    });
    editor.setDecorations(
      this.types.gone,
      blocks.flatMap((block) => lines(block.line, block.gone)),
    );
    const come = blocks.flatMap((block) => lines(block.line + block.gone, block.come));
    const isNew = review.diff.oldText === null;
    editor.setDecorations(this.types.come, isNew ? [] : come);
    editor.setDecorations(this.types.created, isNew ? come : []);
    editor.setDecorations(
      this.types.text,
      isNew ? [] : blocks.flatMap((block) => lines(block.line, block.gone + block.come)),
    );
    editor.setDecorations(
      this.types.wordGone,
      words.flatMap(({ gone }) => gone),
    );
    editor.setDecorations(
      this.types.wordCome,
      words.flatMap(({ come }) => come),
    );
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const pending = this.documents.reviewOf(document);
    if (pending) return [lensOfPage(pending)];
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

/** A code lens that links a file to the page with its proposed changes. */
function lensOfPage(review: Review): vscode.CodeLens {
  const open = review.verdicts.filter((verdict) => verdict === "open").length;
  const target = targetOf(review, Math.max(0, review.verdicts.indexOf("open")));
  const command = { command: "hermes.edits.show", title: messages.reviewLens(open), arguments: [target] };
  return new vscode.CodeLens(rangeAt(0), command);
}

function wordRanges(places: readonly WordPlace[] | undefined, first: number): readonly vscode.Range[] {
  return (places ?? []).map(({ line, from, to }) => new vscode.Range(first + line, from, first + line, to));
}

export function targetOf(review: Review, hunk: number): Target {
  return { sessionId: review.sessionId, callId: review.callId, path: review.diff.path, hunk };
}

/** Beyond the end of any line; the editor clamps it. */
const LINE_END = 2 ** 30;

function lines(first: number, count: number): readonly vscode.Range[] {
  return count > 0 ? [new vscode.Range(first, 0, first + count - 1, LINE_END)] : [];
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
