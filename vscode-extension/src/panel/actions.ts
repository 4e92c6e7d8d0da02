/** Carries out what the user does in the panel. */

import type { Conversations } from "../acp/conversations";
import type { Approvals } from "../acp/approvals";
import type { Inquiries } from "../acp/inquiries";
import { errorText, needsSetUp } from "../acp/error_text";
import type { Checkpoints } from "../edits/checkpoints";
import type { Reviews } from "../edits/reviews";
import { applyCode } from "../messages/agent";
import { SET_UP_MODEL, SHOW_LOG } from "../messages/server";
import { ServerError } from "../server/state";
import { findItem } from "../state/session";
import type { Store } from "../state/store";
import type { Answer, Attachments, Exits, MentionReader, PromptContext, Transcription } from "./host";
import type { KeptDrafts } from "./kept_drafts";
import { promptContent, type Extras } from "./prompt_content";
import { PromptQueue } from "./prompt_queue";
import { Rewinds } from "./rewinds";
import type { Banner, Mention, Passage, Picture, ToHost } from "./protocol";

export interface Parts {
  readonly store: Store;
  readonly conversations: Conversations;
  readonly approvals: Approvals;
  readonly inquiries: Inquiries;
  readonly reviews: Reviews;
  readonly checkpoints: Pick<Checkpoints, "undo" | "compare" | "restore">;
  readonly mentions: MentionReader;
  readonly context: PromptContext;
  readonly exits: Exits;
  readonly attachments: Attachments;
  /** Undefined where pages cannot record. */
  readonly transcription?: Transcription;
  /** Undefined if pages store drafts reliably themselves. */
  readonly drafts?: KeptDrafts;
}

export interface Stage {
  /** The shown session. */
  readonly shown: string;
  /** Show a session. */
  select(sessionId: string): void;
  /** Show what prevents work, or undefined to clear it. */
  setBanner(banner: Banner | undefined): void;
  /** Send the whole state to a panel that was just opened. */
  welcome(answer: Answer): void;
}

export class PanelActions {
  /** The session being started for a user who is about to write. */
  private preparing: Promise<string> | undefined;
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
    const { conversations, approvals, inquiries, reviews, checkpoints } = this.parts;
    switch (message.type) {
      case "ready":
        if (this.parts.drafts?.all) answer({ type: "drafts", ...this.parts.drafts.all });
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
        return answer({ type: "located", places: await this.parts.exits.located(message.places) });
      case "compare":
        return this.compare(message.sessionId, message.callId, message.path);
      case "checkpoint":
        return message.action === "undo"
          ? checkpoints.undo(message.sessionId, message.endId)
          : checkpoints.compare(message.sessionId, message.endId);
      default:
        if ((await this.manage(message, answer)) || (await this.attach(message, answer))) return;
        await this.leave(message);
    }
  }

  /** Handle messages about sessions, or return undefined for others. */
  private async manage(message: ToHost, answer: Answer): Promise<true | undefined> {
    const { conversations } = this.parts;
    switch (message.type) {
      case "new":
        this.front.select(await this.begin());
        return true;
      case "prepare":
        await this.prepare();
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

  /** Handle messages that add something to the prompt, or return undefined for others. */
  private async attach(message: ToHost, answer: Answer): Promise<true | undefined> {
    switch (message.type) {
      case "takeContext":
        this.parts.context.take(message.kind, message.isTaken);
        return true;
      case "attach":
        await this.parts.attachments.pick(answer);
        return true;
      case "speak":
        await this.hear(message, answer);
        return true;
      case "draft":
        this.parts.drafts?.take(message);
        return true;
      case "dropped":
        await this.parts.attachments.drop(message.uris, answer);
        return true;
      default:
        return undefined;
    }
  }

  /** Have a recording transcribed; the page always gets an answer, because it waits for one. */
  private async hear(message: Extract<ToHost, { type: "speak" }>, answer: Answer): Promise<void> {
    const { sessionId, mimeType, data } = message;
    let text = "";
    try {
      text = (await this.parts.transcription?.transcribe(mimeType, data)) ?? "";
    } finally {
      answer({ type: "heard", sessionId, text });
    }
  }

  /** Handle messages that lead out of the panel. */
  private async leave(message: ToHost): Promise<void> {
    const { exits } = this.parts;
    switch (message.type) {
      case "open":
        return exits.open(message.path, message.line);
      case "browse":
        return exits.browse(message.url);
      case "follow":
        return exits.follow(message.place);
      case "code":
        return this.useCode(message.action, message.text);
      case "copy":
        return exits.copy(message.text);
      case "run":
        return exits.run(message.command);
      default:
        return;
    }
  }

  /** Show one file's change of one call. */
  private async compare(sessionId: string, callId: string, path: string): Promise<void> {
    const session = this.parts.store.get(sessionId);
    const item = session && findItem(session, "call", callId);
    const found = item?.content.find((each) => each.type === "diff" && each.diff.path === path);
    if (item && found?.type === "diff") await this.parts.exits.compare(found.diff, item.title);
  }

  /** Send a prompt from the panel with the editor context. If it cannot be sent, return it to the panel. */
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

  /** Start a session, and clear the banner on success. */
  async begin(): Promise<string> {
    const id = await this.parts.conversations.begin();
    this.front.setBanner(undefined);
    return id;
  }

  /** Start the first session before the first prompt, because its options are only known then. */
  async prepare(): Promise<void> {
    if (this.parts.store.all().length > 0) return;
    this.preparing ??= this.begin().finally(() => (this.preparing = undefined));
    const id = await this.preparing;
    if (!this.front.shown) this.front.select(id);
  }

  /** Return an open session: the named one, or a new one for a page without any. */
  private async sessionFor(sessionId: string): Promise<string> {
    const { store } = this.parts;
    if (store.get(sessionId)) return sessionId;
    if (this.preparing) return this.preparing;
    return sessionId === "" && store.get(this.front.shown) ? this.front.shown : this.begin();
  }

  /** Send a prompt to a session, or to a new one if none is named. Only the agent sees the aside. */
  async prompt(
    sessionId: string,
    text: string,
    mentions: readonly Mention[] = [],
    pictures: readonly Picture[] = [],
    aside = "",
  ): Promise<void> {
    const id = await this.sessionFor(sessionId);
    this.front.select(id);
    await this.send(id, text, { mentions, pictures, aside });
  }

  /** Send a prompt to an open session, whichever is shown. */
  private async send(id: string, text: string, extras: Extras): Promise<void> {
    await this.parts.conversations.prompt(id, await promptContent(this.parts.mentions, text, extras));
  }

  /** Perform an action on a code block. Edits of files are reviewed like all edits. */
  private async useCode(action: "insert" | "apply" | "run", text: string): Promise<void> {
    const { exits } = this.parts;
    if (action !== "apply") return exits.useCode(action, text);
    const prompt = { text: applyCode(text, exits.codeTarget()), mentions: [], pictures: [] };
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
      // The server counts Unicode characters, but a page counts UTF-16 units.
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
