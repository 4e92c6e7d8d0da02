/**
 * Carries out what the user does in the panel.
 *
 * Knows: every message of the panel and who serves it. Does not know: how anything is drawn.
 */

import * as vscode from "vscode";

import type { Conversations } from "../acp/conversations";
import type { Approvals } from "../acp/approvals";
import type { Inquiries } from "../acp/inquiries";
import { errorText, needsSetUp } from "../acp/error_text";
import type { Checkpoints } from "../edits/checkpoints";
import { compare } from "../edits/compare";
import type { Reviews } from "../edits/reviews";
import { attachFiles, pickFiles } from "../editor/attach";
import type { ContextTracker } from "../editor/context";
import type { Mentions } from "../editor/mentions";
import { codeTarget, insertCode, runCode } from "../editor/code";
import { applyCode } from "../messages/agent";
import { noSuchFile } from "../messages/errors";
import { SET_UP_MODEL, SHOW_LOG } from "../messages/server";
import { ServerError } from "../server/life";
import type { Store } from "../state/store";
import { findPlace } from "./place";
import { promptContent, type Extras } from "./prompt_content";
import { PromptQueue } from "./prompt_queue";
import { Rewinds } from "./rewinds";
import type { Mention, Passage, Picture, ToHost, ToView, Banner } from "./protocol";

/** More places than these in one text are not looked for. */
const MAX_PLACES = 200;

type Answer = (message: ToView) => void;

export interface Parts {
  readonly store: Store;
  readonly conversations: Conversations;
  readonly approvals: Approvals;
  readonly inquiries: Inquiries;
  readonly reviews: Reviews;
  readonly checkpoints: Checkpoints;
  readonly mentions: Mentions;
  readonly context: ContextTracker;
}

export interface Stage {
  /** The session that is shown. */
  readonly shown: string;
  /** Show a session. */
  select(sessionId: string): void;
  /** Show what prevents work; undefined when nothing does any more. */
  setBanner(banner: Banner | undefined): void;
  /** Send everything to a panel that just opened. */
  welcome(answer: Answer): void;
}

export class PanelActions {
  private readonly queue: PromptQueue;
  private readonly rewinds: Rewinds;

  constructor(
    private readonly parts: Parts,
    private readonly front: Stage,
  ) {
    this.queue = new PromptQueue(
      parts.store,
      (sessionId, { text, mentions, pictures }, steers) => this.send(sessionId, text, { mentions, pictures, steers }),
      (error) => this.showError(error),
    );
    this.rewinds = new Rewinds(parts, (sessionId) => front.select(sessionId));
  }

  /** Serve one message; show an error in the panel. */
  receive(message: ToHost, answer: Answer): void {
    void this.serve(message, answer).catch((error: unknown) => this.showError(error));
  }

  private async serve(message: ToHost, answer: Answer): Promise<void> {
    const { conversations, approvals, inquiries, reviews, checkpoints, store } = this.parts;
    switch (message.type) {
      case "ready":
        this.front.welcome(answer);
        return answer({ type: "context", context: this.parts.context.shown });
      case "prompt":
        return this.promptFromPanel(message, answer);
      case "queue":
      case "reword":
        return this.queue.change(message);
      case "cancel":
        return conversations.cancel(message.sessionId);
      case "answer":
        return approvals.answer(message.requestId, message.option, message.comment);
      case "seen":
        return approvals.noteSeen(message.requestId);
      case "judge":
        if (message.hunk < 0) return reviews.judgeFile(message, message.path, message.verdict);
        return reviews.judge(message, message.path, message.hunk, message.verdict);
      case "reply":
        return inquiries.reply(message.id, message.content ?? undefined);
      case "option":
        return conversations.setOption(message.sessionId, message.option, message.value);
      case "mentions":
        return answer({ ...message, mentions: await this.parts.mentions.find(message.query) });
      case "locate":
        return answer({ type: "located", places: await located(message.places) });
      case "compare":
        return compare(store.get(message.sessionId), message.callId, message.path);
      case "checkpoint":
        return message.action === "undo"
          ? checkpoints.undo(message.sessionId, message.endId)
          : checkpoints.compare(message.sessionId, message.endId);
      default:
        if ((await this.manage(message, answer)) || (await this.attach(message, answer))) return;
        await this.leave(message);
    }
  }

  /** Serve what is about sessions as such; undefined for anything else. */
  private async manage(message: ToHost, answer: Answer): Promise<true | undefined> {
    const { conversations } = this.parts;
    switch (message.type) {
      case "new":
        this.front.select(await this.begin());
        return true;
      case "select":
        this.front.select(message.sessionId);
        return true;
      case "close":
        await conversations.close(message.sessionId);
        this.front.select("");
        return true;
      case "listPast":
        await this.listPast(message.cursor, answer);
        return true;
      case "searchPast":
        await this.searchPast(message.query, answer);
        return true;
      case "openPast":
        await conversations.open(message.sessionId, message.cwd);
        this.front.select(message.sessionId);
        return true;
      case "rewind": {
        const refill = await this.rewinds.rewind(message.sessionId, message.itemId, message.withFiles);
        if (refill) answer(refill);
        return true;
      }
      case "undoRewind":
        await this.rewinds.undo(message.sessionId);
        return true;
      case "fork":
        this.front.select(await conversations.fork(message.sessionId, message.cwd));
        return true;
      case "rename":
        await conversations.rename(message.sessionId, message.title);
        return true;
      case "delete":
        await conversations.delete(message.sessionId);
        this.front.select("");
        return true;
      default:
        return undefined;
    }
  }

  /** Serve what puts something into the prompt; undefined for anything else. */
  private async attach(message: ToHost, answer: Answer): Promise<true | undefined> {
    switch (message.type) {
      case "takeContext":
        this.parts.context.take(message.kind, message.isTaken);
        return true;
      case "attach":
        await attachFiles(await pickFiles(), answer);
        return true;
      case "dropped": {
        const uris = message.uris.map((uri) => vscode.Uri.parse(uri));
        await attachFiles(uris, answer);
        return true;
      }
      default:
        return undefined;
    }
  }

  /** Serve what leads out of the panel. */
  private async leave(message: ToHost): Promise<void> {
    switch (message.type) {
      case "open":
        return openPlace(message.path, message.line);
      case "browse":
        await vscode.env.openExternal(vscode.Uri.parse(message.url, true));
        return;
      case "follow": {
        const place = await findPlace(message.place, openFolders());
        return place && openPlace(place.path, place.line);
      }
      case "code":
        return this.useCode(message.action, message.text);
      case "copy":
        return vscode.env.clipboard.writeText(message.text);
      case "run":
        if (
          message.command.startsWith("hermes.") ||
          message.command === "vscode.openFolder" ||
          message.command === "workbench.trust.manage"
        )
          await vscode.commands.executeCommand(message.command);
        return;
      default:
        return;
    }
  }

  /** Send what was written in the panel, with what its user looks at; what cannot be sent is given back. */
  private async promptFromPanel(message: Extract<ToHost, { type: "prompt" }>, answer: Answer): Promise<void> {
    const { sessionId, text, mentions, pictures } = message;
    const looked = this.parts.context.taken.filter(({ uri }) => !mentions.some((each) => each.uri === uri));
    const all = [...mentions, ...looked];
    if (this.queue.take(sessionId, { ...message, mentions: all })) return;
    await this.prompt(sessionId, text, all, pictures).catch((error: unknown) => {
      answer({ type: "refill", text, mentions, pictures });
      throw error;
    });
  }

  /** Begin a session; when that works, nothing stands in the way any more. */
  async begin(): Promise<string> {
    const id = await this.parts.conversations.begin();
    this.front.setBanner(undefined);
    return id;
  }

  /** Send a prompt to a session, or to a new one if none is named; only the agent sees the aside. */
  async prompt(
    sessionId: string,
    text: string,
    mentions: readonly Mention[] = [],
    pictures: readonly Picture[] = [],
    aside = "",
  ): Promise<void> {
    const id = this.parts.store.get(sessionId) ? sessionId : await this.begin();
    this.front.select(id);
    await this.send(id, text, { mentions, pictures, aside });
  }

  /** Send a prompt to a session that is open, whichever is shown. */
  private async send(id: string, text: string, extras: Extras): Promise<void> {
    await this.parts.conversations.prompt(id, await promptContent(this.parts.mentions, text, extras));
  }

  /** Do with a block of code what its user wants; an edit of a file goes the way of all edits, to be reviewed. */
  private async useCode(action: "insert" | "apply" | "run", text: string): Promise<void> {
    if (action === "insert") return insertCode(text);
    if (action === "run") return runCode(text);
    const prompt = { text: applyCode(text, codeTarget()), mentions: [], pictures: [] };
    if (!this.queue.take(this.front.shown, prompt)) await this.prompt(this.front.shown, prompt.text);
  }

  private async listPast(cursor: string | undefined, answer: Answer): Promise<void> {
    const { sessions, nextCursor } = await this.parts.conversations.past(cursor);
    answer({
      type: "past",
      sessions: sessions.map((each) => ({
        id: each.sessionId,
        cwd: each.cwd,
        title: each.title ?? "",
        updatedAt: each.updatedAt ?? "",
      })),
      ...(nextCursor ? { cursor: nextCursor } : {}),
      isMore: cursor !== undefined,
    });
  }

  private async searchPast(query: string, answer: Answer): Promise<void> {
    const { found } = await this.parts.conversations.search(query);
    const passages = found.map(({ sessionId, highlights, ...rest }): Passage => {
      // The server counts characters of Unicode, a page counts halves of some.
      const characters = [...rest.text];
      const lengthOf = (count: number) => characters.slice(0, count).join("").length;
      const marks = highlights.map(([from = 0, to = 0]) => [lengthOf(from), lengthOf(to)] as const);
      return { id: sessionId, marks, ...rest };
    });
    answer({ type: "passages", query, passages });
  }

  private showError(error: unknown): void {
    // The panel already shows why the server is not available, and what would help.
    if (error instanceof ServerError) return;
    const fix = needsSetUp(error)
      ? { command: "hermes.setUp", title: SET_UP_MODEL }
      : { command: "hermes.showLog", title: SHOW_LOG };
    this.front.setBanner({ severity: "error", text: errorText(error), fix });
  }
}

function openFolders(): readonly string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

/** Return which of the places that a text names are there. */
async function located(places: readonly string[]): Promise<readonly string[]> {
  const roots = openFolders();
  const found = await Promise.all(places.slice(0, MAX_PLACES).map((place) => findPlace(place, roots)));
  return places.filter((_, at) => found[at]);
}

/** Open a file at a line (from 1), beside the panel where that is an editor. */
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
