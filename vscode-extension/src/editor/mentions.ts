/**
 * What a prompt can mention, found and turned into what the agent reads.
 *
 * Knows: files, folders, symbols, the selection, problems, changes. Does not know: the panel, the agent.
 */

import { execFile } from "node:child_process";
import { basename } from "node:path";
import { promisify } from "node:util";

import type * as acp from "@agentclientprotocol/sdk/unstable";
import * as vscode from "vscode";

import { gitFailed, NO_GIT_CHANGES, REST_LEFT_OUT } from "../messages/agent";
import { GIT_CHANGES, PROBLEMS, problemsInWorkspace, UNCOMMITTED } from "../messages/editor";
import type { Mention } from "../panel/protocol";

const MAX_FOUND = 30;
const MAX_DIFF = 200_000;
const LEAVE_OUT = "**/{node_modules,.git,__pycache__,.venv,dist,build}/**";

/** Find what the words behind an @ may mean, the likeliest first. */
export async function findMentions(query: string): Promise<readonly Mention[]> {
  const word = query.toLowerCase();
  const special = specials().filter((each) => each.token.toLowerCase().startsWith(word));
  const [files, symbols] = await Promise.all([findFiles(query), query.length > 1 ? findSymbols(query) : []]);
  return [...special, ...files, ...symbols].slice(0, MAX_FOUND);
}

function specials(): readonly Mention[] {
  const found: Mention[] = [];
  const editor = vscode.window.activeTextEditor;
  if (editor && !editor.selection.isEmpty) found.push(selectionOf(editor));
  const count = problems().length;
  if (count > 0)
    found.push({ kind: "problems", token: "problems", label: PROBLEMS, detail: problemsInWorkspace(count) });
  if (vscode.workspace.workspaceFolders?.length)
    found.push({ kind: "changes", token: "changes", label: GIT_CHANGES, detail: UNCOMMITTED });
  return found;
}

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

async function findFiles(query: string): Promise<readonly Mention[]> {
  const letters = [...query.replace(/[^\p{L}\p{N}._/-]/gu, "")];
  const glob = letters.length > 0 ? `**/*${letters.map(eitherCase).join("*")}*` : "**/*";
  const uris = await vscode.workspace.findFiles(glob, LEAVE_OUT, 400);
  const wanted = query.toLowerCase();
  const ranked = uris
    .map((uri) => ({ uri, rank: rankOf(vscode.workspace.asRelativePath(uri, false).toLowerCase(), wanted) }))
    .sort((one, other) => one.rank - other.rank);
  const folders = new Map<string, Mention>();
  for (const { uri } of ranked) {
    const folder = vscode.Uri.joinPath(uri, "..");
    if (wanted && basename(folder.path).toLowerCase().includes(wanted))
      folders.set(folder.toString(), fileOf(folder, "folder"));
  }
  return [...[...folders.values()].slice(0, 3), ...ranked.slice(0, MAX_FOUND).map(({ uri }) => fileOf(uri))];
}

const eitherCase = (letter: string): string => {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  return lower === upper ? letter : `[${lower}${upper}]`;
};

function rankOf(path: string, wanted: string): number {
  const name = basename(path);
  if (name.startsWith(wanted)) return path.length;
  if (name.includes(wanted)) return 1000 + path.length;
  return (path.includes(wanted) ? 2000 : 3000) + path.length;
}

async function findSymbols(query: string): Promise<readonly Mention[]> {
  const found = await vscode.commands.executeCommand<vscode.SymbolInformation[]>(
    "vscode.executeWorkspaceSymbolProvider",
    query,
  );
  return (found ?? []).slice(0, 8).map((symbol): Mention => {
    const { start, end } = symbol.location.range;
    const uri = symbol.location.uri.with({ fragment: `L${start.line + 1}-L${end.line + 1}` }).toString();
    const detail = vscode.workspace.asRelativePath(symbol.location.uri, false);
    return { kind: "symbol", token: symbol.name, label: symbol.name, detail, uri, line: start.line + 1 };
  });
}

function problems(): readonly string[] {
  const names = ["error", "warning", "information", "hint"];
  return vscode.languages
    .getDiagnostics()
    .flatMap(([uri, all]) =>
      all
        .filter((each) => each.severity <= vscode.DiagnosticSeverity.Warning)
        .map(
          (each) =>
            `${vscode.workspace.asRelativePath(uri, false)}:${each.range.start.line + 1}: ${names[each.severity]}: ${each.message}`,
        ),
    );
}

/** Return a mention as what the agent reads; undefined where there is nothing any more. */
export async function blockOf(mention: Mention): Promise<acp.ContentBlock | undefined> {
  switch (mention.kind) {
    case "file":
    case "folder":
      return mention.uri ? { type: "resource_link", uri: mention.uri, name: mention.detail } : undefined;
    case "selection":
    case "symbol":
      return passageOf(mention);
    case "problems":
      return textBlock("hermes://problems", problems().join("\n"));
    case "changes":
      return textBlock("hermes://git-changes", await changes());
  }
}

async function passageOf(mention: Mention): Promise<acp.ContentBlock | undefined> {
  if (!mention.uri) return undefined;
  const uri = vscode.Uri.parse(mention.uri);
  const lines = /^L(\d+)-L(\d+)$/.exec(uri.fragment);
  const document = await vscode.workspace.openTextDocument(uri.with({ fragment: "" }));
  const [first, last] = lines ? [Number(lines[1]) - 1, Number(lines[2])] : [0, document.lineCount];
  return textBlock(mention.uri, document.getText(new vscode.Range(first, 0, last, 0)));
}

function textBlock(uri: string, text: string): acp.ContentBlock {
  return { type: "resource", resource: { uri, text, mimeType: "text/plain" } };
}

async function changes(): Promise<string> {
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!cwd) return "";
  try {
    const { stdout } = await promisify(execFile)("git", ["--no-pager", "diff", "HEAD"], {
      cwd,
      maxBuffer: 64 * MAX_DIFF,
    });
    return stdout.length > MAX_DIFF ? `${stdout.slice(0, MAX_DIFF)}\n${REST_LEFT_OUT}` : stdout || NO_GIT_CHANGES;
  } catch (error) {
    return gitFailed(error instanceof Error ? error.message : String(error));
  }
}
