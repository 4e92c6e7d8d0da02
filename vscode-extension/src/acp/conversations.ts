/** The open sessions, and the user's actions on them. */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import { OPEN_FOLDER_FIRST } from "../messages/errors";
import type { Attachment, EndItem, Item, Rewound } from "../state/terms";
import { WAITING, type SessionEvent } from "../state/events";
import { asSeen } from "../state/calls";
import { reduce } from "../state/reduce";
import { emptySession, findItem, type Session } from "../state/session";
import type { Store } from "../state/store";
import type { Approvals } from "./approvals";
import type { Link } from "./link";
import { ask, methods } from "./methods";
import type { SessionsSearchResult } from "./own";
import { toChildEvents, toEvents, toOptions } from "./translate";
import { errorText, isToRetry, needsSetUp } from "./error_text";

const PLAN = "plan";
const MAX_FOUND = 30;

/** The folders in which sessions start, and their trust. */
export interface Workspace {
  isTrusted(): boolean;
  /** Return the folder of new sessions and the additional ones, or undefined if no folder is open. */
  folders(): { readonly cwd: string; readonly more: readonly string[] } | undefined;
  /** Whether to list only the sessions of that folder. */
  readonly isOnlyFolder: boolean;
}

export interface Prompt {
  readonly text: string;
  readonly blocks: readonly acp.ContentBlock[];
  readonly attachments: readonly Attachment[];
  /** Whether it joins a running turn. */
  readonly steers?: boolean;
}

/** The prompt before which a session is rewound, and the undos of the file changes since. */
export interface Rewind extends Pick<Rewound, "undos"> {
  readonly messageId: string;
}

export class Conversations {
  private link: Link | undefined;
  /** Sessions being replayed, with the events received so far. */
  private readonly replayed = new Map<string, Session>();
  /** Maps a child agent's session to its parent session. */
  private readonly parents = new Map<string, string>();
  private prompts = 0;
  /** Called for each loaded session, after its whole history. */
  onLoaded: (id: string) => void = () => undefined;
  /** Called for each session that is closed here. */
  onClosed: (id: string) => void = () => undefined;

  constructor(
    private readonly store: Store,
    private readonly approvals: Approvals,
    private readonly workspace: Workspace,
    private readonly connected: () => Promise<Link>,
  ) {}

  /** Switch to a new connection and reload all open sessions. */
  async adopt(link: Link): Promise<void> {
    this.link = link;
    for (const { id, cwd } of this.store.all()) {
      await this.replay(link, id, cwd).catch((error: unknown) => {
        if (!link.isClosed) this.showError(id, error);
      });
    }
  }

  /** Record that the connection is lost. Running turns are lost and reloaded from the server's records. */
  lose(why: string): void {
    this.link = undefined;
    this.replayed.clear();
    for (const { id, turns } of this.store.all()) {
      // While the question is still open, so that the ending can mention it.
      if (turns.length > 0) this.store.dispatch(id, { type: "lost", id: this.fresh("lost"), text: why });
      this.approvals.withdrawAll(id);
    }
  }

  /** Handle an update of a session, live or replayed. */
  takeUpdate({ sessionId, update }: acp.SessionNotification): "live" | "replayed" {
    if (update.sessionUpdate === "subagent_update") this.parents.set(update.sessionId, this.parentOf(sessionId));
    if (this.parents.has(sessionId)) {
      this.store.dispatch(this.parentOf(sessionId), ...this.ofChild(sessionId, update));
      return "live";
    }
    const past = this.replayed.get(sessionId);
    if (past) {
      this.replayed.set(sessionId, toEvents(update).reduce(reduce, past));
      return "replayed";
    }
    this.store.dispatch(sessionId, ...toEvents(update).map(timed));
    return "live";
  }

  /** Return the session to show for one: itself, or the parent of a child agent. */
  private parentOf(sessionId: string): string {
    return this.parents.get(sessionId) ?? sessionId;
  }

  /** Updates of a child, including calls that the parent session was asked about, whose cards are there. */
  private ofChild(childId: string, update: acp.SessionUpdate): readonly SessionEvent[] {
    const events = toChildEvents(childId, update);
    const session = this.store.get(this.parentOf(childId));
    const asked = events.flatMap((event): readonly SessionEvent[] =>
      event.type === "childCall" && session && findItem(session, "call", event.call.id)
        ? [{ type: "call", call: event.call }]
        : [],
    );
    return [...events, ...asked];
  }

  /** Start a session and return its ID. */
  async begin(): Promise<string> {
    const folders = this.workspace.folders();
    if (!folders) throw new Error(OPEN_FOLDER_FIRST);
    const link = await this.connected();
    const begun = await link.agent.request(methods.new, { ...this.placeOf(link, folders.cwd), mcpServers: [] });
    this.store.open(begun.sessionId, folders.cwd);
    this.store.dispatch(begun.sessionId, { type: "options", options: toOptions(begun.configOptions) });
    await this.restrain(link, begun.sessionId);
    return begun.sessionId;
  }

  /** Open an earlier session. */
  async open(id: string, cwd: string): Promise<void> {
    if (this.store.get(id)) return;
    const link = await this.connected();
    this.store.open(id, cwd);
    try {
      await this.replay(link, id, cwd);
    } catch (error) {
      this.store.forget(id);
      throw error;
    }
  }

  private async replay(link: Link, id: string, cwd: string): Promise<void> {
    const before = this.store.get(id);
    this.replayed.set(id, emptySession(id, cwd));
    try {
      const answer = await link.agent.request(methods.load, {
        sessionId: id,
        ...this.placeOf(link, cwd),
        mcpServers: [],
      });
      const session = this.replayed.get(id) ?? emptySession(id, cwd);
      const options = toOptions(answer?.configOptions);
      const items = withSeen(session.items, before?.items ?? []);
      const whole = {
        ...session,
        items,
        options,
        plan: session.turns.length > 0 ? session.plan : [],
        ...keptOf(before),
        title: session.title || (before?.title ?? ""),
      };
      const last = before?.items.at(-1);
      const told = session.items.at(-1);
      const isAskedAgain = told?.type === "end" && told.reason === WAITING;
      const isLost = last?.type === "end" && last.reason === "lost" && session.turns.length === 0 && !isAskedAgain;
      // In one step, so that the last items never disappear, because somebody may be about to click on them.
      this.store.dispatch(id, { type: "replaced", session: isLost ? withLost(whole, last) : whole });
    } finally {
      this.replayed.delete(id);
    }
    await this.restrain(link, id);
    this.onLoaded(id);
  }

  /** Restrict the session to reading and planning if the user does not trust the folder. */
  private async restrain(link: Link, id: string): Promise<void> {
    if (!this.workspace.isTrusted()) await this.plan(link, id);
  }

  /** Copy another session's options: its mode and its model. */
  async likeIn(id: string, otherId: string): Promise<void> {
    for (const option of this.store.get(otherId)?.options ?? []) {
      const own = this.store.get(id)?.options.find((each) => each.id === option.id);
      if (option.type === "select" && own?.type === "select" && own.value !== option.value)
        await this.setOption(id, option.id, option.value);
    }
  }

  /** Make a session read-only, if its agent has a mode for that. */
  async onlyLook(id: string): Promise<void> {
    await this.plan(await this.connected(), id);
  }

  private async plan(link: Link, id: string): Promise<void> {
    const mode = this.store.get(id)?.options.find((each) => each.type === "select" && each.category === "mode");
    if (mode?.type !== "select" || mode.value === PLAN) return;
    if (mode.choices.some((choice) => choice.value === PLAN)) await this.set(link, id, mode.id, PLAN);
  }

  private placeOf(link: Link, cwd: string): { cwd: string; additionalDirectories?: string[] } {
    const folders = this.workspace.isOnlyFolder ? this.workspace.folders() : undefined;
    const others = folders ? [folders.cwd, ...folders.more].filter((folder) => folder !== cwd) : [];
    const takesMore = link.greeting.agentCapabilities?.sessionCapabilities?.additionalDirectories;
    return takesMore && others.length > 0 ? { cwd, additionalDirectories: others } : { cwd };
  }

  /**
   * Run a turn to its end. Failures are shown in the conversation. Rejects if no agent is available; then nothing was
   * sent. A session being reloaded is completed first.
   */
  async prompt(id: string, { text, blocks, attachments, steers }: Prompt): Promise<void> {
    const link = await this.connected();
    const session = this.store.get(id);
    if (!session) return;
    const turn = this.fresh("turn");
    this.store.dispatch(
      id,
      { type: "prompted", id: turn, text, attachments, isWaiting: session.turns.length > 0 && !steers },
      { type: "begun", id: turn, at: Date.now() },
    );
    try {
      const { stopReason } = await link.agent.request(methods.prompt, {
        sessionId: id,
        prompt: [...blocks],
        ...(steers ? { _meta: { hermes: { steers: true } } } : {}),
      });
      this.store.dispatch(id, { type: "ended", id: turn, reason: stopReason, text: "", at: Date.now() });
    } catch (error) {
      // The handler for the lost server reports the consequences of a lost connection.
      if (!link.isClosed && this.store.get(id)?.turns.includes(turn)) {
        const why = { text: errorText(error), needsSetUp: needsSetUp(error), isToRetry: isToRetry(error) };
        this.store.dispatch(id, { type: "ended", id: turn, reason: "failed", ...why, at: Date.now() });
      }
    }
  }

  /** Stop the running turn of a session, and its open requests. */
  async cancel(id: string): Promise<void> {
    this.approvals.withdrawAll(id);
    await this.link?.agent.notify(methods.cancel, { sessionId: id });
  }

  async setOption(id: string, option: string, value: string | boolean): Promise<void> {
    try {
      await this.set(await this.connected(), id, option, value);
    } catch (error) {
      this.showError(id, error);
    }
  }

  private async set(link: Link, id: string, option: string, value: string | boolean): Promise<void> {
    const chosen = typeof value === "boolean" ? ({ type: "boolean", value } as const) : { value };
    const answer = await link.agent.request(methods.setConfigOption, { sessionId: id, configId: option, ...chosen });
    this.store.dispatch(id, { type: "options", options: toOptions(answer.configOptions) });
  }

  async close(id: string): Promise<void> {
    const isKnown = this.store.get(id);
    this.approvals.withdrawAll(id);
    this.onClosed(id);
    this.store.forget(id);
    if (isKnown) await this.link?.agent.request(methods.close, { sessionId: id }).catch(() => undefined);
  }

  /** List earlier sessions, newest first. `cursor` is the end of the previous page. */
  async past(cursor?: string): Promise<acp.ListSessionsResponse> {
    const link = await this.connected();
    const cwd = this.listed();
    return link.agent.request(methods.list, { ...(cwd ? { cwd } : {}), ...(cursor ? { cursor } : {}) });
  }

  /** Return the folder whose sessions are listed, or undefined for all. */
  private listed(): string | undefined {
    return this.workspace.isOnlyFolder ? this.workspace.folders()?.cwd : undefined;
  }

  /** Return earlier sessions with their titles, newest first. */
  async pastTitles(): Promise<readonly { id: string; cwd: string; title: string }[]> {
    const { sessions } = await this.past();
    return sessions.map(({ sessionId, cwd, title }) => ({ id: sessionId, cwd, title: title ?? "" }));
  }

  /** Return a session's current state, opening it temporarily if necessary. */
  async read(id: string, cwd: string): Promise<Session> {
    const open = this.store.get(id);
    if (open) return open;
    const link = await this.connected();
    this.replayed.set(id, emptySession(id, cwd));
    try {
      await link.agent.request(methods.load, { sessionId: id, ...this.placeOf(link, cwd), mcpServers: [] });
      return this.replayed.get(id) ?? emptySession(id, cwd);
    } finally {
      this.replayed.delete(id);
      await link.agent.request(methods.close, { sessionId: id }).catch(() => undefined);
    }
  }

  /** Search the sessions of this folder, best match first. */
  async search(query: string): Promise<SessionsSearchResult> {
    const cwd = this.listed() ?? null;
    return ask(await this.connected(), "_hermes/sessions/search", { query, cwd, limit: MAX_FOUND });
  }

  /** Fork a session and return the new ID. For a rewind, fork the history before a prompt. */
  async fork(id: string, cwd: string, rewind?: Rewind): Promise<string> {
    const link = await this.connected();
    const forked = await link.agent.request(methods.fork, {
      sessionId: id,
      ...this.placeOf(link, cwd),
      mcpServers: [],
      ...(rewind ? { _meta: { hermes: { beforeMessage: rewind.messageId } } } : {}),
    });
    const sources = [...(this.store.get(id)?.sources ?? []), id];
    this.store.open(forked.sessionId, cwd);
    const rewound = rewind && { from: id, undos: rewind.undos };
    this.store.dispatch(forked.sessionId, { type: "forked", sources, ...(rewound ? { rewound } : {}) });
    await this.replay(link, forked.sessionId, cwd);
    return forked.sessionId;
  }

  async rename(id: string, title: string): Promise<void> {
    const link = await this.connected();
    const stored = await link.agent.request(methods.setTitle, { sessionId: id, title });
    this.store.dispatch(id, { type: "title", title: stored.title ?? title });
  }

  async delete(id: string): Promise<void> {
    const link = await this.connected();
    await this.close(id);
    await link.agent.request(methods.delete, { sessionId: id });
  }

  private showError(id: string, error: unknown): void {
    this.store.dispatch(id, { type: "notice", id: this.fresh("notice"), severity: "error", text: errorText(error) });
  }

  private fresh(kind: string): string {
    this.prompts += 1;
    return `${kind}-${Date.now().toString(36)}-${this.prompts}`;
  }
}

/** Return the parts of a session that only this editor knows. */
function keptOf(before: Session | undefined): Partial<Session> {
  if (!before) return {};
  const { queue, isHeld, sources, rewound } = before;
  return { queue, isHeld, sources, ...(rewound ? { rewound } : {}) };
}

/** Keep the parts of cards that only this editor saw, because the agent does not report them. */
function withSeen(items: readonly Item[], before: readonly Item[]): readonly Item[] {
  const seen = new Map(before.flatMap((item) => (item.type === "call" ? [[item.id, item]] : [])));
  return items.map((item) => (item.type === "call" ? asSeen(item, seen.get(item.id)) : item));
}

/** Record when a card's update arrived. */
function timed(event: SessionEvent): SessionEvent {
  if (event.type === "begun" || event.type === "ended") return { ...event, at: Date.now() };
  return event.type === "call" ? { ...event, call: { ...event.call, at: Date.now() } } : event;
}

/** Show that a turn was lost, as seen here. If the agent reports the same ending, merge the two. */
function withLost(session: Session, lost: EndItem): Session {
  const last = session.items.at(-1);
  // A replayed plan may belong to any turn, but the rest of the lost one is known.
  const { text, plan, unanswered } = lost;
  const known = { ...(plan ? { plan } : {}), ...(unanswered ? { unanswered } : {}) };
  // An agent may report the turn of a vanished editor as stopped.
  const isTold = last?.type === "end" && (last.reason === "lost" || last.reason === "cancelled");
  const ended = isTold ? session : reduce(session, { type: "lost", id: lost.id, text });
  const end = ended.items.at(-1);
  if (end?.type !== "end") return ended;
  return { ...ended, items: ended.items.with(-1, { ...end, reason: "lost", text, ...known }) };
}
