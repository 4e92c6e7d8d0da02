/** The composition root of the web page. */

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
import { Work } from "../work/work";
import { browserAttachments, browserExits, noContext, type Commands } from "./browser_host";
import { Connection } from "./connection";
import { Overlays } from "./dialogs";
import { FileMentions } from "./file_mentions";
import { FileOpener } from "./file_opener";
import { Folders } from "./folders";
import type { TabMemory } from "./kept";
import { Observable } from "../state/observable";
import { Speech } from "./speech";
import type { ResumableSocket, SocketState } from "./resumable_socket";

export interface WebEngine {
  readonly overlays: Overlays;
  readonly folders: Folders;
  readonly work: Work;
  readonly state: Observable<SocketState>;
  /** How many questions wait for the user. */
  readonly questions: Observable<number>;
  receive(message: ToHost, answer: (message: ToView) => void): void;
  readonly audience: Audience;
  readonly connection: Connection;
  /** Start a session in a folder and show it. */
  begin(folder: string): Promise<void>;
}

const INTRODUCTION: Introduction = {
  _meta: { hermes: { unstable: true } },
  clientInfo: { name: "hermes-web", title: CLIENT_TITLE, version: "0.1.0" },
  clientCapabilities: {
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    elicitation: { form: {}, url: {} },
    subagents: {},
    _meta: { hermes: { edits: true, turnEnds: true, turnMarks: true, turnStates: true, times: true } },
  },
};

/** Edits are shown once they are written. */
const NO_DRAFTS: DraftPages = { settle: () => undefined, grow: () => undefined, endDrafts: () => undefined };

/** Assemble the parts without connecting. */
export function build(memory: TabMemory, open: (onState: (state: SocketState) => void) => ResumableSocket): WebEngine {
  const store = new Store();
  const overlays = new Overlays();
  const state = new Observable<SocketState>("connecting");
  const questions = new Observable(0);
  const reviews = new Reviews();
  const approvals = new Approvals(store, reviews);
  const inquiries = new Inquiries(store);
  const warn = (warning: string) => console.warn(warning);
  const checkpoints = new Checkpoints(store, overlays, warn);
  const written = new WrittenEdits(reviews, () => true, warn);
  const folders = new Folders(memory);
  const work = new Work();
  const mentions = new FileMentions(() => front.shown);
  const files = new FileOpener(overlays, () => front.shown);
  const speech = new Speech();
  const conversations: Conversations = new Conversations(
    store,
    approvals,
    { isTrusted: () => true, folders: () => folders.place, isOnlyFolder: false },
    () => connection.link(),
  );
  const bridge = new ReviewBridge(store, reviews, approvals, NO_DRAFTS, written);
  const answerers = answerersOf({ conversations, approvals, inquiries, bridge, written, work });
  const connection: Connection = new Connection(
    open,
    (socket) => connectStream(socket.stream, answerers, INTRODUCTION),
    {
      onState: (next) => state.set(next),
      onLink: (link) =>
        adopt(link, { approvals, checkpoints, written, work, mentions, files, speech, front, conversations }),
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
    surroundingsOf(folders, questions, () => store.get(shown())?.cwd),
  );
  shown = () => front.shown;
  front.onTurnEnd = (sessionId, endId, beganAt) => void checkpoints.note(sessionId, endId, beganAt);
  const exits = browserExits(overlays, commandsOf(overlays, audience), (path, line) => files.open(path, line));
  const attachments = browserAttachments((words) => overlays.say(words));
  const host = { exits, attachments, mentions, context: noContext, transcription: speech };
  const parts = { store, conversations, approvals, inquiries, reviews, checkpoints, ...host };
  const actions = new PanelActions(parts, front);
  const begin = beginning(folders, front, actions);
  const receive = receiver(work, overlays, actions);
  return { overlays, folders, work, state, questions, receive, audience, connection, begin };
}

/** Return the function that starts a session in a folder and shows it. */
function beginning(folders: Folders, front: Front, actions: PanelActions): WebEngine["begin"] {
  return async (folder) => {
    folders.choose(folder);
    front.select(await actions.begin());
  };
}

/** Return the receiver of the page's messages. The work pages link to their sessions. */
function receiver(work: Work, overlays: Overlays, actions: PanelActions): WebEngine["receive"] {
  const receive: WebEngine["receive"] = (message, answer) => {
    if (message.type === "openPast") overlays.sayLater(LOADING);
    actions.receive(message, answer);
  };
  work.onSession = (sessionId, cwd) => {
    overlays.close();
    receive({ type: "openPast", sessionId, cwd }, () => undefined);
  };
  return receive;
}

interface Adopters {
  readonly approvals: Approvals;
  readonly checkpoints: Checkpoints;
  readonly written: WrittenEdits;
  readonly work: Work;
  readonly mentions: FileMentions;
  readonly files: FileOpener;
  readonly speech: Speech;
  readonly front: Front;
  readonly conversations: Conversations;
}

/** Switch all parts to a new connection, reloading open sessions last. */
async function adopt(link: Link, to: Adopters): Promise<void> {
  to.approvals.takesParts = announces(link, "edits");
  to.checkpoints.adopt(link);
  to.written.adopt(link);
  to.work.adopt(link);
  to.mentions.adopt(link);
  to.files.adopt(link);
  to.speech.adopt(link);
  to.front.setAbilities(link);
  to.front.setServer({ phase: "ready", version: link.greeting.agentInfo?.version ?? "" });
  await to.conversations.adopt(link);
}

function surroundingsOf(
  folders: Folders,
  questions: Observable<number>,
  shown: () => string | undefined,
): Surroundings {
  return {
    isEditor: false,
    roots: () => folders.rootsOf(shown()),
    isTrusted: () => true,
    onChange: (listener) => ({ dispose: folders.current.listen(listener) }),
    show: (standing) => questions.set(standing.questions),
  };
}

/** Map VS Code commands of the panel's buttons to actions of the page. */
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
  readonly work: Work;
}

function answerersOf({ conversations, approvals, inquiries, bridge, written, work }: Parts): Answerers {
  return {
    onUpdate: (notification) => {
      if (conversations.takeUpdate(notification) === "live") bridge.receive(notification);
    },
    onDraft: () => undefined,
    onJudged: (judged) => written.receive(judged),
    askPermission: (request, signal) => approvals.ask(request, signal),
    inquire: (request, signal) => inquiries.ask(request, signal),
    onInquiryDone: () => undefined,
    onBoardChanged: (change) => work.noteBoardChange(change),
  };
}
