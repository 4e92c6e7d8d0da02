/** The context attached to prompts unless the user removes it: the open file and the selection. */

import * as vscode from "vscode";

import type { ContextKind, EditorContext, Mention } from "../panel/protocol";
import type { Memory } from "../state/memory";
import { fileOf, selectionOf } from "./mention_of";

const LEFT_OUT = "contextLeftOut";
/** A selection changes with every key, so the display is updated once it rests. */
const REST_MS = 120;

export class ContextTracker implements vscode.Disposable {
  private readonly subscriptions: readonly vscode.Disposable[];
  private editor: vscode.TextEditor | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  onChange: () => void = () => undefined;

  constructor(private readonly memory: Memory) {
    this.note(vscode.window.activeTextEditor);
    this.subscriptions = [
      vscode.window.onDidChangeActiveTextEditor((editor) => this.note(editor)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === this.editor) this.changeSoon();
      }),
      vscode.window.tabGroups.onDidChangeTabs(() => this.note(vscode.window.activeTextEditor)),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Return the available context, and whether it is attached. */
  get shown(): EditorContext {
    const leftOut = this.leftOut;
    return this.all().map((mention) => ({ mention, isTaken: !leftOut.includes(kindOf(mention)) }));
  }

  /** Return the context attached to a prompt now. */
  get taken(): readonly Mention[] {
    return this.shown.filter(({ isTaken }) => isTaken).map(({ mention }) => mention);
  }

  /** Attach a kind of context from now on, or leave it out. */
  take(kind: ContextKind, isTaken: boolean): void {
    const others = this.leftOut.filter((each) => each !== kind);
    this.memory.set(LEFT_OUT, isTaken ? others : [...others, kind]);
    this.onChange();
  }

  private get leftOut(): readonly ContextKind[] {
    return this.memory.get<readonly ContextKind[]>(LEFT_OUT) ?? [];
  }

  private all(): readonly Mention[] {
    const { editor } = this;
    if (!editor) return [];
    return [fileOf(editor.document.uri), ...(editor.selection.isEmpty ? [] : [selectionOf(editor)])];
  }

  /** Keep the file next to the panel if the panel is the active editor. Forget a closed file. */
  private note(editor: vscode.TextEditor | undefined): void {
    if (editor && editor.document.uri.scheme === "file") this.editor = editor;
    else if (!vscode.window.visibleTextEditors.includes(this.editor as vscode.TextEditor)) this.editor = undefined;
    this.changeSoon();
  }

  private changeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.onChange();
    }, REST_MS);
  }
}

const kindOf = ({ kind }: Mention): ContextKind => (kind === "selection" ? "selection" : "file");
