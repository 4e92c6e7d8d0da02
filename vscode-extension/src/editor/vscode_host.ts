/** The panel's host in VS Code: files and diffs in editors, the clipboard, the browser, dialogs, the status bar. */

import * as vscode from "vscode";

import { showDiff, showDiffs } from "../edits/compare";
import { noSuchFile } from "../messages/errors";
import type { Attachments, Dialogs, Exits, Standing, Surroundings } from "../panel/host";
import { findPlace } from "../panel/place";
import { StatusItem, WaitingItem } from "../server/status";
import { attachFiles, pickFiles } from "./attach";
import { codeTarget, insertCode, runCode } from "./code";

/** The maximum number of places looked up in one text. */
const MAX_PLACES = 200;

function openFolders(): readonly string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

/** Folders, trust, and the status bar. */
export class EditorSurroundings implements Surroundings, vscode.Disposable {
  readonly isEditor = true;
  private readonly status = new StatusItem();
  private readonly waitingItem = new WaitingItem();
  private questions = 0;
  private waiting = 0;

  constructor(private readonly badge: (count: number) => void) {}

  roots(): readonly string[] {
    return openFolders();
  }

  isTrusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  onChange(listener: () => void): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.onDidGrantWorkspaceTrust(listener),
      vscode.workspace.onDidChangeWorkspaceFolders(listener),
    );
  }

  show({ server, questions, isWorking }: Standing): void {
    this.questions = questions;
    this.badge(this.questions + this.waiting);
    this.status.show(server, questions, isWorking);
    void vscode.commands.executeCommand("setContext", "hermes.isAsking", questions > 0);
  }

  /** Show how many items wait for the user outside this window's sessions. */
  wait(waiting: number): void {
    this.waiting = waiting;
    this.badge(this.questions + waiting);
    this.waitingItem.show(waiting);
  }

  dispose(): void {
    this.status.dispose();
    this.waitingItem.dispose();
  }
}

export const editorExits: Exits = {
  open: openPlace,
  follow: async (text) => {
    const place = await findPlace(text, openFolders());
    if (place) await openPlace(place.path, place.line);
  },
  located: async (places) => {
    const roots = openFolders();
    const found = await Promise.all(places.slice(0, MAX_PLACES).map((place) => findPlace(place, roots)));
    return places.filter((_, at) => found[at]);
  },
  browse: async (url) => void (await vscode.env.openExternal(vscode.Uri.parse(url, true))),
  copy: async (text) => vscode.env.clipboard.writeText(text),
  run: async (command) => {
    const isOurs = command.startsWith("hermes.");
    if (isOurs || command === "vscode.openFolder" || command === "workbench.trust.manage")
      await vscode.commands.executeCommand(command);
  },
  compare: showDiff,
  useCode: (action, text) => (action === "insert" ? insertCode(text) : runCode(text)),
  codeTarget,
};

export const editorAttachments: Attachments = {
  pick: async (answer) => attachFiles(await pickFiles(), answer),
  drop: (uris, answer) =>
    attachFiles(
      uris.map((uri) => vscode.Uri.parse(uri)),
      answer,
    ),
};

export const editorDialogs: Dialogs = {
  confirm: async (question, word) => (await vscode.window.showWarningMessage(question, { modal: true }, word)) === word,
  showDiffs,
  nameOf: (path) => vscode.workspace.asRelativePath(path, false),
};

/** Open a file at a line (from 1), beside the panel if the panel is an editor. */
export async function openPlace(path: string, line?: number): Promise<void> {
  const uri = /^[a-z][a-z0-9+.-]+:\/\//i.test(path) ? vscode.Uri.parse(path) : vscode.Uri.file(path);
  const fragment = /^L(\d+)/.exec(uri.fragment);
  const at = Math.max(0, (line ?? (fragment ? Number(fragment[1]) : 1)) - 1);
  const target = uri.with({ fragment: "" });
  const stat = await vscode.workspace.fs.stat(target).then(
    (found) => found,
    () => {
      throw new Error(noSuchFile(vscode.workspace.asRelativePath(target, false)));
    },
  );
  if (stat.type & vscode.FileType.Directory) {
    await vscode.commands.executeCommand("revealInExplorer", target);
    return;
  }
  await vscode.window.showTextDocument(target, { preview: true, selection: new vscode.Range(at, 0, at, 0) });
}
