/** The content of the panel, the badge and the status bar around the conversations. */

import type { Link } from "../acp/link";
import { announces } from "../acp/methods";
import type { State } from "../server/state";
import type { SessionEvent } from "../state/events";
import { distinctNames } from "../state/names";
import { activityOf, openQuestions } from "../state/session";
import { saveSessions, restoreSessions, type SavedSessions } from "../state/saved_sessions";
import type { Store } from "../state/store";
import type { Audience } from "./audience";
import { bannerOf } from "./banner";
import type { Disposable, KeptValues, Surroundings } from "./host";
import type { Shell, ToView, Banner } from "./protocol";

const KEPT = "sessions";
const KEEP_MS = 500;
/** Events that are stored at once, so that an immediate reload knows them. */
const KEPT_AT_ONCE: ReadonlySet<SessionEvent["type"]> = new Set(["begun", "ended", "lost", "replaced"]);
/** Events after which tabs, badge and status may look different. */
const SEEN_AROUND: ReadonlySet<SessionEvent["type"]> = new Set([
  "prompted",
  "begun",
  "ended",
  "lost",
  "asked",
  "answered",
  "inquired",
  "replied",
  "title",
  "replaced",
]);

export class Front implements Disposable {
  private readonly subscription: Disposable;
  private server: State = { phase: "off" };
  private abilities: Pick<
    Shell,
    "takesImages" | "takesSpeech" | "canFork" | "canRename" | "judgesHunks" | "canSearch" | "canSteer" | "canRewind"
  > = {
    takesImages: false,
    takesSpeech: false,
    canFork: false,
    canRename: false,
    judgesHunks: false,
    canSearch: false,
    canSteer: false,
    canRewind: false,
  };
  private banner: Banner | undefined;
  private active = "";
  private isOver = false;
  private keepTimer: ReturnType<typeof setTimeout> | undefined;
  /** When each running turn started, in ms. */
  private readonly begun = new Map<string, number>();
  onTurnEnd: (sessionId: string, endId: string, beganAt: number) => void = () => undefined;

  constructor(
    private readonly store: Store,
    private readonly audience: Audience,
    private readonly memory: KeptValues,
    private readonly surroundings: Surroundings,
  ) {
    this.restore();
    store.listen((sessionId, events) => this.receive(sessionId, events));
    this.subscription = surroundings.onChange(() => this.refresh());
    this.refresh();
  }

  /** Store the state. Endings caused by the shutdown are not reported. */
  dispose(): void {
    this.keep();
    this.isOver = true;
    this.subscription.dispose();
  }

  get shown(): string {
    return this.active;
  }

  /** Whether the server should be started at once. */
  get hasSessions(): boolean {
    return this.store.all().length > 0;
  }

  /** Return a session that waits for an answer, preferably the shown one, or undefined. */
  get asking(): string | undefined {
    const asking = this.store.all().filter((session) => openQuestions(session) > 0);
    return (asking.find(({ id }) => id === this.active) ?? asking[0])?.id;
  }

  private restore(): void {
    const { active, sessions } = restoreSessions(this.memory.get<SavedSessions>(KEPT));
    for (const session of sessions) {
      this.store.open(session.id, session.cwd);
      this.store.dispatch(session.id, { type: "replaced", session });
    }
    this.active = this.store.get(active) ? active : (sessions.at(-1)?.id ?? "");
  }

  private receive(sessionId: string, events: readonly SessionEvent[]): void {
    this.audience.postEvents(sessionId, events);
    for (const event of events) this.noteTurn(sessionId, event);
    if (events.some((event) => SEEN_AROUND.has(event.type))) this.refresh();
    if (events.some((event) => KEPT_AT_ONCE.has(event.type))) this.keep();
    else this.keepSoon();
  }

  private noteTurn(sessionId: string, event: SessionEvent): void {
    if (event.type === "begun") this.begun.set(event.id, Date.now());
    if (event.type !== "ended") return;
    this.onTurnEnd(sessionId, event.id, this.begun.get(event.id) ?? Date.now());
    this.begun.delete(event.id);
  }

  /** Store the sessions' appearance, so that a reload shows them at once. */
  keep(): void {
    clearTimeout(this.keepTimer);
    this.keepTimer = undefined;
    if (this.isOver) return;
    this.memory.set(KEPT, saveSessions(this.active, this.store.all()));
  }

  private keepSoon(): void {
    this.keepTimer ??= setTimeout(() => this.keep(), KEEP_MS);
  }

  setServer(state: State): void {
    this.server = state;
    if (state.phase === "failed" || state.phase === "ready") this.banner = bannerOf(state);
    this.refresh();
  }

  setAbilities(link: Link): void {
    const able = link.greeting.agentCapabilities;
    this.abilities = {
      takesImages: Boolean(able?.promptCapabilities?.image),
      // The page of an editor has no microphone.
      takesSpeech:
        !this.surroundings.isEditor && Boolean(able?.promptCapabilities?.audio) && announces(link, "transcription"),
      canFork: Boolean(able?.sessionCapabilities?.fork),
      canRename: Boolean(able?.sessionCapabilities?.title),
      judgesHunks: announces(link, "edits"),
      canSearch: announces(link, "sessionSearch"),
      canSteer: announces(link, "steering"),
      canRewind: announces(link, "rewind") && Boolean(able?.sessionCapabilities?.fork),
    };
  }

  setBanner(banner: Banner | undefined): void {
    this.banner = banner ?? bannerOf(this.server);
    this.refresh();
  }

  /** Show a session. An unknown or missing one is replaced by the last existing one. */
  select(sessionId: string): void {
    const session = this.store.get(sessionId) ?? this.store.all().at(-1);
    this.active = session?.id ?? "";
    if (session) this.audience.post({ type: "session", session });
    this.refresh();
    this.keepSoon();
  }

  welcome(answer: (message: ToView) => void): void {
    for (const session of this.store.all()) answer({ type: "session", session });
    answer({ type: "shell", shell: this.shell() });
  }

  private refresh(): void {
    const sessions = this.store.all();
    const questions = sessions.reduce((sum, session) => sum + openQuestions(session), 0);
    this.audience.post({ type: "shell", shell: this.shell() });
    const isWorking = sessions.some((session) => session.turns.length > 0);
    this.surroundings.show({ server: this.server, questions, isWorking });
  }

  private shell(): Shell {
    const sessions = this.store.all();
    const names = distinctNames(sessions);
    const roots = this.surroundings.roots();
    return {
      server: this.server.phase,
      ...(this.banner ? { banner: this.banner } : {}),
      tabs: sessions.map((session, at) => ({
        id: session.id,
        name: names[at] ?? "",
        activity: activityOf(session),
      })),
      active: this.active,
      hasFolder: roots.length > 0,
      isTrusted: this.surroundings.isTrusted(),
      ...this.abilities,
      roots,
      isInEditor: this.surroundings.isEditor,
    };
  }
}
