/** Find what a prompt can mention, and convert mentions to content for the agent. */

import { execFile } from "node:child_process";
import { basename } from "node:path";
import { promisify } from "node:util";

import type * as acp from "@agentclientprotocol/sdk/unstable";
import * as vscode from "vscode";

import { gitFailed, NO_GIT_CHANGES, REST_LEFT_OUT } from "../messages/agent";
import {
  GIT_CHANGES,
  lastCommandIn,
  PAST_SESSION,
  PROBLEMS,
  problemsInWorkspace,
  TERMINAL,
  UNCOMMITTED,
} from "../messages/editor";
import type { Mention } from "../panel/protocol";
import { fileOf, selectionOf } from "./mention_of";
import { isInGit } from "./git_folder";
import { offered, type Found } from "./offered";
import { ranked } from "./ranking";
import { RecentFiles } from "./recent_files";
import { TerminalOutput } from "./terminal_output";

const SESSION = "session";
const MAX_SESSIONS = 8;
const MAX_FOUND = 30;
const MAX_PASSAGE = 100_000;
const MAX_DIFF = 200_000;
const LEAVE_OUT = "**/{node_modules,.git,__pycache__,.venv,dist,build}/**";

/** Provides earlier sessions. */
export interface PastSessions {
  list(): Promise<readonly { readonly id: string; readonly cwd: string; readonly title: string }[]>;
  read(id: string, cwd: string): Promise<string>;
}

export class Mentions implements vscode.Disposable {
  private readonly recent = new RecentFiles();
  private readonly terminal = new TerminalOutput();

  constructor(private readonly past: PastSessions) {}

  dispose(): void {
    this.recent.dispose();
    this.terminal.dispose();
  }

  /** Find candidates for the words after an @, most likely first. */
  async find(query: string): Promise<readonly Mention[]> {
    if (/^https?:\/\/\S/i.test(query)) return [pageOf(query)];
    const word = query.toLowerCase();
    const [{ files, folders }, symbols, sessions, special] = await Promise.all([
      this.findFiles(query),
      query.length > 1 ? findSymbols(query) : [],
      isMeant(SESSION, word) ? this.findSessions(word.slice(SESSION.length + 1)) : [],
      this.specials(),
    ]);
    const meant = special.filter((each) => isMeant(each.token.toLowerCase(), word));
    return offered(word, { special: meant, folders, files, symbols, sessions });
  }

  private async specials(): Promise<readonly Mention[]> {
    const found: Mention[] = [];
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.scheme === "file" && !editor.selection.isEmpty) found.push(selectionOf(editor));
    const count = problems().length;
    if (count > 0)
      found.push({ kind: "problems", token: "problems", label: PROBLEMS, detail: problemsInWorkspace(count) });
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (folder?.scheme === "file" && (await isInGit(folder.fsPath)))
      found.push({ kind: "changes", token: "changes", label: GIT_CHANGES, detail: UNCOMMITTED });
    const { name } = this.terminal;
    if (name) found.push({ kind: "terminal", token: "terminal", label: TERMINAL, detail: lastCommandIn(name) });
    return found;
  }

  private async findSessions(words: string): Promise<readonly Mention[]> {
    const all = await this.past.list().catch(() => []);
    const wanted = all.filter(({ title }) => title && title.toLowerCase().replace(/\W+/g, "-").includes(words));
    return wanted.slice(0, MAX_SESSIONS).map(({ id, cwd, title }) => ({
      kind: "session",
      token: `${SESSION}:${title.toLowerCase().replace(/\W+/g, "-").replace(/^-|-$/g, "")}`,
      label: title,
      detail: PAST_SESSION,
      uri: vscode.Uri.from({ scheme: "hermes-session", path: `/${id}`, query: cwd }).toString(),
    }));
  }

  private async findFiles(query: string): Promise<Pick<Found, "files" | "folders">> {
    const letters = [...query.replace(/[^\p{L}\p{N}._/-]/gu, "")];
    const glob = letters.length > 0 ? `**/*${letters.map(eitherCase).join("*")}*` : "**/*";
    const open = this.recent.open();
    const isOpen = new Set(open.map(String));
    const found = [...open, ...this.recent.recent(), ...(await vscode.workspace.findFiles(glob, LEAVE_OUT, 400))];
    const uris = new Map(found.map((uri) => [uri.toString(), uri]));
    const candidates = [...uris].map(([key, uri]) => {
      const seenAgo = this.recent.seenAgo(uri);
      const path = vscode.workspace.asRelativePath(uri, false);
      return { uri, path, isOpen: isOpen.has(key), ...(seenAgo === undefined ? {} : { seenAgo }) };
    });
    const files = ranked(candidates, letters.join("")).map(({ uri }) => uri);
    return {
      folders: foldersOf(files, query.toLowerCase()),
      files: files.slice(0, MAX_FOUND).map((uri) => fileOf(uri)),
    };
  }

  /** Convert a mention to content for the agent, or return undefined if it no longer exists. */
  async blockOf(mention: Mention): Promise<acp.ContentBlock | undefined> {
    if (mention.text !== undefined) return textBlock(mention.uri ?? `hermes://${mention.token}`, mention.text);
    switch (mention.kind) {
      case "file":
      case "folder":
      case "url":
        return mention.uri ? { type: "resource_link", uri: mention.uri, name: mention.detail } : undefined;
      case "selection":
      case "symbol":
        return passageOf(mention);
      case "problems":
        return textBlock("hermes://problems", problems().join("\n"));
      case "changes":
        return textBlock("hermes://git-changes", await changes());
      case "terminal": {
        const output = await this.terminal.read();
        return output === undefined ? undefined : textBlock("hermes://terminal", output);
      }
      case "session": {
        const { path, query } = vscode.Uri.parse(mention.uri ?? "");
        return textBlock(`hermes://session${path}`, await this.past.read(path.slice(1), query));
      }
    }
  }
}

/** Whether a word being typed may become this token, or starts with it. */
function isMeant(token: string, word: string): boolean {
  return token.startsWith(word) || (token === SESSION && word.startsWith(`${SESSION}:`));
}

/** Mention a web page. The agent reads it with its own tool, under its own rules. */
function pageOf(url: string): Mention {
  return { kind: "url", token: url, label: url.replace(/^https?:\/\//i, ""), detail: url, uri: url };
}

function foldersOf(files: readonly vscode.Uri[], wanted: string): readonly Mention[] {
  const roots = new Set(vscode.workspace.workspaceFolders?.map(({ uri }) => uri.toString()));
  const folders = new Map<string, Mention>();
  for (const uri of files) {
    const folder = vscode.Uri.joinPath(uri, "..");
    if (wanted ? basename(folder.path).toLowerCase().includes(wanted) : !roots.has(folder.toString()))
      folders.set(folder.toString(), fileOf(folder, "folder"));
  }
  return [...folders.values()].slice(0, 3);
}

const eitherCase = (letter: string): string => {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  return lower === upper ? letter : `[${lower}${upper}]`;
};

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

async function passageOf(mention: Mention): Promise<acp.ContentBlock | undefined> {
  if (!mention.uri) return undefined;
  const uri = vscode.Uri.parse(mention.uri);
  const lines = /^L(\d+)-L(\d+)$/.exec(uri.fragment);
  const document = await vscode.workspace.openTextDocument(uri.with({ fragment: "" }));
  const [first, last] = lines ? [Number(lines[1]) - 1, Number(lines[2])] : [0, document.lineCount];
  const text = document.getText(new vscode.Range(first, 0, last, 0));
  return textBlock(mention.uri, text.length > MAX_PASSAGE ? `${text.slice(0, MAX_PASSAGE)}\n${REST_LEFT_OUT}` : text);
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
