/**
 * The one place where the parts of the web page are put together.
 *
 * Knows: every part. Does not know: what any of them does inside.
 */

import { Approvals } from "../acp/approvals";
import { Conversations } from "../acp/conversations";
import { Inquiries } from "../acp/inquiries";
import { connectStream, type Answerers, type Introduction, type Link } from "../acp/link";
import { announces } from "../acp/methods";
import { ReviewBridge, type DraftPages } from "../edits/bridge";
import { Checkpoints } from "../edits/checkpoints";
import { Reviews } from "../edits/reviews";
import { WrittenEdits } from "../edits/written";
import { CLIENT_TITLE, LOADING, LOG_THERE, SET_UP_THERE } from "../messages/web";
import { PanelActions } from "../panel/actions";
import { Audience } from "../panel/audience";
import { Front } from "../panel/front";
import type { Surroundings } from "../panel/host";
import type { ToHost, ToView } from "../panel/protocol";
import { Store } from "../state/store";
import { browserAttachments, browserExits, browserMentions, noContext, type Commands } from "./browser_host";
import { Connection } from "./connection";
import { Overlays } from "./dialogs";
import { Folders } from "./folders";
import type { TabMemory } from "./kept";
import { Observable } from "./observable";
import { Runs } from "./runs";
import type { ResumableSocket, SocketState } from "./resumable_socket";

export interface WebEngine {
  readonly overlays: Overlays;
  readonly folders: Folders;
  readonly runs: Runs;
  readonly state: Observable<SocketState>;
  receive(message: ToHost, answer: (message: ToView) => void): void;
  readonly audience: Audience;
  readonly connection: Connection;
  /** Begin a session in a folder and show it. */
  begin(folder: string): Promise<void>;
}

const INTRODUCTION: Introduction = {
  _meta: { hermes: { unstable: true } },
  clientInfo: { name: "hermes-web", title: CLIENT_TITLE, version: "0.1.0" },
  clientCapabilities: {
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    elicitation: { form: {}, url: {} },
    subagents: {},
    _meta: { hermes: { edits: true, turnEnds: true, turnMarks: true, turnStates: true } },
  },
};

/** Edits are shown when they are written. */
const NO_DRAFTS: DraftPages = { settle: () => undefined, grow: () => undefined, endDrafts: () => undefined };

/** Put the parts together; nothing is connected yet. */
export function build(memory: TabMemory, open: (onState: (state: SocketState) => void) => ResumableSocket): WebEngine {
  const store = new Store();
  const overlays = new Overlays();
  const state = new Observable<SocketState>("connecting");
  const reviews = new Reviews();
  const approvals = new Approvals(store, reviews);
  const inquiries = new Inquiries(store);
  const warn = (warning: string) => console.warn(warning);
  const checkpoints = new Checkpoints(store, overlays, warn);
  const written = new WrittenEdits(reviews, () => true, warn);
  const folders = new Folders(memory);
  const runs = new Runs();
  const conversations: Conversations = new Conversations(
    store,
    approvals,
    { isTrusted: () => true, folders: () => folders.place, isOnlyFolder: false },
    () => connection.link(),
  );
  const bridge = new ReviewBridge(store, reviews, approvals, NO_DRAFTS, written);
  const answerers = answerersOf({ conversations, approvals, inquiries, bridge, written });
  const connection: Connection = new Connection(
    open,
    (socket) => connectStream(socket.stream, answerers, INTRODUCTION),
    {
      onState: (next) => state.set(next),
      onLink: (link) => adopt(link, { approvals, checkpoints, written, runs, front, conversations }),
      onLost: (why) => conversations.lose(why),
    },
  );
  conversations.onLoaded = (id) => {
    overlays.hush();
    void Promise.all([written.refresh(id), checkpoints.recall(id)]);
  };
  conversations.onClosed = (id) => written.drop(id);
  const audience = new Audience();
  let shown = () => "";
  const front: Front = new Front(
    store,
    audience,
    memory,
    surroundingsOf(folders, () => store.get(shown())?.cwd),
  );
  shown = () => front.shown;
  front.onTurnEnd = (sessionId, endId, beganAt) => void checkpoints.note(sessionId, endId, beganAt);
  const exits = browserExits(overlays, commandsOf(overlays, audience));
  const host = { exits, attachments: browserAttachments, mentions: browserMentions, context: noContext };
  const actions = new PanelActions(
    { store, conversations, approvals, inquiries, reviews, checkpoints, ...host },
    front,
  );
  const begin = async (folder: string) => {
    folders.choose(folder);
    front.select(await actions.begin());
  };
  const receive: WebEngine["receive"] = (message, answer) => {
    if (message.type === "openPast") overlays.sayLater(LOADING);
    actions.receive(message, answer);
  };
  return { overlays, folders, runs, state, receive, audience, connection, begin };
}

interface Adopters {
  readonly approvals: Approvals;
  readonly checkpoints: Checkpoints;
  readonly written: WrittenEdits;
  readonly runs: Runs;
  readonly front: Front;
  readonly conversations: Conversations;
}

/** Let everybody use a fresh connection; what is open is loaded last. */
async function adopt(link: Link, to: Adopters): Promise<void> {
  to.approvals.takesParts = announces(link, "edits");
  to.checkpoints.adopt(link);
  to.written.adopt(link);
  to.runs.adopt(link);
  to.front.setAbilities(link);
  to.front.setServer({ phase: "ready", version: link.greeting.agentInfo?.version ?? "" });
  await to.conversations.adopt(link);
}

function surroundingsOf(folders: Folders, shown: () => string | undefined): Surroundings {
  return {
    isEditor: false,
    roots: () => folders.rootsOf(shown()),
    isTrusted: () => true,
    onChange: (listener) => ({ dispose: folders.current.listen(listener) }),
    show: ({ questions }) => showWaiting(questions),
  };
}

/** Return what the panel's buttons mean here that name a command of VS Code's. */
function commandsOf(overlays: Overlays, audience: Audience): Commands {
  return {
    "vscode.openFolder": () => overlays.chooseFolder(),
    "hermes.setUp": () => overlays.say(SET_UP_THERE),
    "hermes.showLog": () => overlays.say(LOG_THERE),
    "hermes.history": () => audience.post({ type: "showPast" }),
  };
}

interface Parts {
  readonly conversations: Conversations;
  readonly approvals: Approvals;
  readonly inquiries: Inquiries;
  readonly bridge: ReviewBridge;
  readonly written: WrittenEdits;
}

function answerersOf({ conversations, approvals, inquiries, bridge, written }: Parts): Answerers {
  return {
    onUpdate: (notification) => {
      if (conversations.takeUpdate(notification) === "live") bridge.receive(notification);
    },
    onDraft: () => undefined,
    onJudged: (judged) => written.receive(judged),
    askPermission: (request, signal) => approvals.ask(request, signal),
    inquire: (request, signal) => inquiries.ask(request, signal),
    onInquiryDone: () => undefined,
  };
}

/** Show in the tab's title how many questions wait. */
function showWaiting(questions: number): void {
  const name = document.title.replace(/^\(\d+\) /, "");
  document.title = questions > 0 ? `(${questions}) ${name}` : name;
}
