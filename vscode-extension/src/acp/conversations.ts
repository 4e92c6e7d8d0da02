/**
 * The sessions that are open here, and what the user does with them.
 *
 * Knows: the methods of sessions, which sessions are being replayed. Does not know: processes, how anything is drawn.
 */

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

/** The folders in which sessions start, and whether the user trusts them. */
export interface Workspace {
  isTrusted(): boolean;
  /** Return the folder of new sessions and the others that belong to it; undefined where no folder is open. */
  folders(): { readonly cwd: string; readonly more: readonly string[] } | undefined;
  /** Whether only the sessions of that folder are of interest. */
  readonly isOnlyFolder: boolean;
}

export interface Prompt {
  readonly text: string;
  readonly blocks: readonly acp.ContentBlock[];
  readonly attachments: readonly Attachment[];
  /** Whether it joins the running turn, if there is one. */
  readonly steers?: boolean;
}

/** The prompt before which a session is rewound, and what undid the changes of files since. */
export interface Rewind extends Pick<Rewound, "undos"> {
  readonly messageId: string;
}

export class Conversations {
  private link: Link | undefined;
  /** Sessions that are being replayed, as far as their events have arrived. */
  private readonly replayed = new Map<string, Session>();
  /** By a child agent's session: the session that it works for. */
  private readonly parents = new Map<string, string>();
  private prompts = 0;
  /** Called for each session that was loaded, with its whole past. */
  onLoaded: (id: string) => void = () => undefined;
  /** Called for each session that is closed here. */
  onClosed: (id: string) => void = () => undefined;

  constructor(
    private readonly store: Store,
    private readonly approvals: Approvals,
    private readonly workspace: Workspace,
    private readonly connected: () => Promise<Link>,
  ) {}

  /** Use a fresh connection: everything that is open is loaded there again. */
  async adopt(link: Link): Promise<void> {
    this.link = link;
    for (const { id, cwd } of this.store.all()) {
      await this.replay(link, id, cwd).catch((error: unknown) => {
        if (!link.isClosed) this.showError(id, error);
      });
    }
  }

  /** Note that the connection is gone: what ran is lost, and loaded again from what the server kept. */
  lose(why: string): void {
    this.link = undefined;
    this.replayed.clear();
    for (const { id, turns } of this.store.all()) {
      // While the question is still there, so that the end can tell of it.
      if (turns.length > 0) this.store.dispatch(id, { type: "lost", id: this.fresh("lost"), text: why });
      this.approvals.withdrawAll(id);
    }
  }

  /** Take an update of a session, and tell whether it happens now or is told again. */
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

  /** Return the session that is shown for one: its own, or that which a child agent works for. */
  private parentOf(sessionId: string): string {
    return this.parents.get(sessionId) ?? sessionId;
  }

  /** A child's news, and those of its calls that the session above was asked about: their cards are there. */
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

  /** Begin a session and give its id. */
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

  /** Open a session of the past. */
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
      // In one go: what stands at the end is never gone for a moment, somebody may be about to click on it.
      this.store.dispatch(id, { type: "replaced", session: isLost ? withLost(whole, last) : whole });
    } finally {
      this.replayed.delete(id);
    }
    await this.restrain(link, id);
    this.onLoaded(id);
  }

  /** Keep to looking where the user trusts nothing: the agent may read and plan there. */
  private async restrain(link: Link, id: string): Promise<void> {
    if (!this.workspace.isTrusted()) await this.plan(link, id);
  }

  /** Set the options of a session as they are in another one: its mode, its model. */
  async likeIn(id: string, otherId: string): Promise<void> {
    for (const option of this.store.get(otherId)?.options ?? []) {
      const own = this.store.get(id)?.options.find((each) => each.id === option.id);
      if (option.type === "select" && own?.type === "select" && own.value !== option.value)
        await this.setOption(id, option.id, option.value);
    }
  }

  /** Let a session only look, where its agent has a mode for that. */
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
   * Run a turn to its end; what goes wrong in it is told in the conversation. Rejects when there is no agent to have:
   * then nothing was said. A session that is just being loaded again is complete before anything is added to it.
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
      // What a lost connection means for its turns is told by whoever notes that the server is gone.
      if (!link.isClosed && this.store.get(id)?.turns.includes(turn)) {
        const why = { text: errorText(error), needsSetUp: needsSetUp(error), isToRetry: isToRetry(error) };
        this.store.dispatch(id, { type: "ended", id: turn, reason: "failed", ...why, at: Date.now() });
      }
    }
  }

  /** Stop what runs in a session, and what waits there. */
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

  /** List sessions of the past, newest first; `cursor` is where the page before ended. */
  async past(cursor?: string): Promise<acp.ListSessionsResponse> {
    const link = await this.connected();
    const cwd = this.listed();
    return link.agent.request(methods.list, { ...(cwd ? { cwd } : {}), ...(cursor ? { cursor } : {}) });
  }

  /** Return the folder whose sessions are of interest; undefined for all. */
  private listed(): string | undefined {
    return this.workspace.isOnlyFolder ? this.workspace.folders()?.cwd : undefined;
  }

  /** Return the sessions of the past by their titles, newest first. */
  async pastTitles(): Promise<readonly { id: string; cwd: string; title: string }[]> {
    const { sessions } = await this.past();
    return sessions.map(({ sessionId, cwd, title }) => ({ id: sessionId, cwd, title: title ?? "" }));
  }

  /** Return a session as it stands, opened for the moment where it is not open. */
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

  /** Find what was said in sessions of this folder, the best find first. */
  async search(query: string): Promise<SessionsSearchResult> {
    const cwd = this.listed() ?? null;
    return ask(await this.connected(), "_hermes/sessions/search", { query, cwd, limit: MAX_FOUND });
  }

  /** Begin a session with the past of another and give its id; of one that is rewound, the past before a prompt. */
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

/** Return what of a session only this editor knows. */
function keptOf(before: Session | undefined): Partial<Session> {
  if (!before) return {};
  const { queue, isHeld, sources, rewound } = before;
  return { queue, isHeld, sources, ...(rewound ? { rewound } : {}) };
}

/** Keep of the cards what only this editor saw: the agent does not tell. */
function withSeen(items: readonly Item[], before: readonly Item[]): readonly Item[] {
  const seen = new Map(before.flatMap((item) => (item.type === "call" ? [[item.id, item]] : [])));
  return items.map((item) => (item.type === "call" ? asSeen(item, seen.get(item.id)) : item));
}

/** Note when a card's news came. */
function timed(event: SessionEvent): SessionEvent {
  if (event.type === "begun" || event.type === "ended") return { ...event, at: Date.now() };
  return event.type === "call" ? { ...event, call: { ...event.call, at: Date.now() } } : event;
}

/** Show that a turn was lost, as it was seen here; where the agent tells of that end too it is one and the same. */
function withLost(session: Session, lost: EndItem): Session {
  const last = session.items.at(-1);
  // A plan told again may be that of any turn; what was left of the one that was lost is known.
  const { text, plan, unanswered } = lost;
  const known = { ...(plan ? { plan } : {}), ...(unanswered ? { unanswered } : {}) };
  // Of an editor that is gone an agent may say that its turn was stopped.
  const isTold = last?.type === "end" && (last.reason === "lost" || last.reason === "cancelled");
  const ended = isTold ? session : reduce(session, { type: "lost", id: lost.id, text });
  const end = ended.items.at(-1);
  if (end?.type !== "end") return ended;
  return { ...ended, items: ended.items.with(-1, { ...end, reason: "lost", text, ...known }) };
}
