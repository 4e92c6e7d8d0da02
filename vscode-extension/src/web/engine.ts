/**
 * The one place where the parts of the web page are put together.
 *
 * Knows: every part. Does not know: what any of them does inside.
 */

import { Approvals } from "../acp/approvals";
import { Conversations } from "../acp/conversations";
import { Inquiries } from "../acp/inquiries";
import { connectStream, type Answerers, type Introduction } from "../acp/link";
import { announces } from "../acp/methods";
import { ReviewBridge } from "../edits/bridge";
import { Checkpoints } from "../edits/checkpoints";
import { Reviews } from "../edits/reviews";
import { WrittenEdits } from "../edits/written";
import { CLIENT_TITLE } from "../messages/web";
import { PanelActions } from "../panel/actions";
import { Audience } from "../panel/audience";
import { Front } from "../panel/front";
import type { ToHost, ToView } from "../panel/protocol";
import { Store } from "../state/store";
import { browserAttachments, browserExits, browserMentions, noContext } from "./browser_host";
import { Connection } from "./connection";
import { Overlays } from "./dialogs";
import { Folders } from "./folders";
import type { TabMemory } from "./kept";
import { Observable } from "./observable";
import type { ResumableSocket, SocketState } from "./resumable_socket";

export interface WebEngine {
  readonly overlays: Overlays;
  readonly folders: Folders;
  readonly state: Observable<SocketState>;
  receive(message: ToHost, answer: (message: ToView) => void): void;
  readonly audience: Audience;
  readonly connection: Connection;
  /** Begin a session in a folder and show it. */
  begin(folder: string): Promise<void>;
}

const INTRODUCTION: Introduction = {
  clientInfo: { name: "hermes-web", title: CLIENT_TITLE, version: "0.1.0" },
  clientCapabilities: {
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    elicitation: { form: {}, url: {} },
    subagents: {},
    _meta: { hermes: { edits: true, turnEnds: true, turnMarks: true, turnStates: true } },
  },
};

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
  const conversations: Conversations = new Conversations(
    store,
    approvals,
    { isTrusted: () => true, folders: () => folders.place, isOnlyFolder: false },
    () => connection.link(),
  );
  const documents = { settle: () => undefined, grow: () => undefined, endDrafts: () => undefined };
  const bridge = new ReviewBridge(store, reviews, approvals, documents, written);
  const answerers = answerersOf({ conversations, approvals, inquiries, bridge, written });
  const connection: Connection = new Connection(
    open,
    (socket) => connectStream(socket.stream, answerers, INTRODUCTION),
    {
      onState: (next) => state.set(next),
      onLink: async (link) => {
        approvals.takesParts = announces(link, "edits");
        checkpoints.adopt(link);
        written.adopt(link);
        front.setAbilities(link);
        front.setServer({ phase: "ready", version: link.greeting.agentInfo?.version ?? "" });
        await conversations.adopt(link);
      },
      onLost: (why) => conversations.lose(why),
    },
  );
  conversations.onLoaded = (id) => void Promise.all([written.refresh(id), checkpoints.recall(id)]);
  conversations.onClosed = (id) => written.drop(id);
  const audience = new Audience();
  let shown = () => "";
  const front: Front = new Front(store, audience, memory, {
    isEditor: false,
    roots: () => folders.rootsOf(store.get(shown())?.cwd),
    isTrusted: () => true,
    onChange: (listener) => ({ dispose: folders.current.listen(listener) }),
    show: ({ questions }) => showWaiting(questions),
  });
  shown = () => front.shown;
  front.onTurnEnd = (sessionId, endId, beganAt) => void checkpoints.note(sessionId, endId, beganAt);
  const exits = browserExits(overlays, {
    "vscode.openFolder": () => overlays.chooseFolder(),
    "hermes.history": () => audience.post({ type: "showPast" }),
  });
  const host = { exits, attachments: browserAttachments, mentions: browserMentions, context: noContext };
  const actions = new PanelActions(
    { store, conversations, approvals, inquiries, reviews, checkpoints, ...host },
    front,
  );
  const begin = async (folder: string) => {
    folders.choose(folder);
    front.select(await actions.begin());
  };
  const receive = actions.receive.bind(actions);
  return { overlays, folders, state, receive, audience, connection, begin };
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
