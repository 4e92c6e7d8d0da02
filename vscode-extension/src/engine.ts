/** The composition root of the extension. */

import { homedir } from "node:os";
import { join } from "node:path";

import * as vscode from "vscode";

import { Approvals } from "./acp/approvals";
import { Conversations } from "./acp/conversations";
import { Inquiries } from "./acp/inquiries";
import type { EditorAnswerers } from "./acp/link";
import { announces, NotThere } from "./acp/methods";
import { Terminals } from "./acp/terminals";
import { Checkpoints } from "./edits/checkpoints";
import { ReviewBridge } from "./edits/bridge";
import { listenForChanges } from "./edits/changed_files";
import { Reviews } from "./edits/reviews";
import { DocumentReviews } from "./edits/documents";
import { ReviewPages } from "./edits/pages";
import { cleanUpPainted } from "./edits/painted";
import { WrittenEdits } from "./edits/written";
import { ContextTracker } from "./editor/context";
import { diagnosesOf } from "./editor/diagnoses";
import { readText, writeText } from "./editor/documents";
import { Mentions } from "./editor/mentions";
import { transcriptOf } from "./editor/past_session";
import { EditorSurroundings, editorAttachments, editorDialogs, editorExits, openPlace } from "./editor/vscode_host";
import { NOT_TRUSTED } from "./messages/agent";
import * as messages from "./messages/server";
import { FirstRun } from "./pages/first_run";
import { Setup } from "./pages/setup";
import { PageTab } from "./pages/tab";
import { ApartSessions } from "./panel/apart";
import { PanelActions } from "./panel/actions";
import { Front } from "./panel/front";
import { KeptDrafts } from "./panel/kept_drafts";
import { Surfaces } from "./panel/surfaces";
import { isNewEnough, OLDEST } from "./server/command";
import { Installer } from "./server/installer";
import { ServerLife } from "./server/life";
import { locateServer, remarkOn, wantedServer } from "./server/located";
import { startProcess, type ServerProcess } from "./server/process";
import { ServerError } from "./server/state";
import { Memory } from "./state/memory";
import { Store } from "./state/store";
import { Work } from "./work/work";

export interface Engine {
  readonly life: ServerLife;
  readonly installer: Installer;
  readonly setup: Setup;
  readonly pageTab: PageTab;
  readonly actions: PanelActions;
  readonly apart: ApartSessions;
  readonly front: Front;
  readonly surfaces: Surfaces;
  readonly approvals: Approvals;
  readonly reviews: Reviews;
  readonly documents: DocumentReviews;
  readonly store: Store;
  dispose(): Promise<void>;
}

/** The panel's host: the editor. */
const HOST = { exits: editorExits, attachments: editorAttachments };

/** Assemble the parts without starting anything. */
export function build(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Engine {
  const store = new Store();
  const memory = memoryOf(context, "state.json");
  const reviews = new Reviews();
  const approvals = new Approvals(store, reviews);
  const inquiries = new Inquiries(store);
  const checkpoints = new Checkpoints(store, editorDialogs, (warning) => log.warn(warning));
  const documents = new DocumentReviews(reviews, new ReviewPages(), () => surfaces.hasFocus);
  void cleanUpPainted(memory).catch((error: unknown) => log.warn(String(error)));
  const terminals = terminalsOf(store);
  const surfaces: Surfaces = new Surfaces(context.extensionUri, (message, answer) => actions.receive(message, answer));
  const life: ServerLife = new ServerLife(() => start(context, log, answerers), {
    onState: (state) => {
      front.setServer(state);
      if (state.phase === "ready") pages.setup.noteServer();
    },
    onLink: async (link) => {
      approvals.takesParts = announces(link, "edits");
      checkpoints.adopt(link);
      written.adopt(link);
      work.adopt(link);
      front.setAbilities(link);
      await conversations.adopt(link);
    },
    onLost: (why) => (log.warn(why), conversations.lose(why)),
  });
  const conversations = new Conversations(
    store,
    approvals,
    { isTrusted: () => vscode.workspace.isTrusted, folders, isOnlyFolder: true },
    () => life.link(),
  );
  const written = new WrittenEdits(reviews, showsWritten, (warning) => log.warn(warning));
  conversations.onLoaded = (sessionId) => void Promise.all([written.refresh(sessionId), checkpoints.recall(sessionId)]);
  conversations.onClosed = (sessionId) => written.drop(sessionId);
  const changes = listenForChanges((path) => written.noteChanged(path));
  const bridge = new ReviewBridge(store, reviews, approvals, documents, written);
  const answerers: EditorAnswerers = {
    ...news({ conversations, bridge, written, work: () => work }),
    askPermission: (request, signal) => approvals.ask(request, signal),
    inquire: (request, signal) => inquiries.ask(request, signal),
    onInquiryDone: () => undefined,
    diagnose: diagnosesOf,
    terminals,
    ...filesThrough(documents),
  };
  const surroundings = new EditorSurroundings((count) => surfaces.badge(count));
  const work = workOf(surroundings, surfaces, (message) => actions.receive(message, () => undefined));
  const front = new Front(store, surfaces.audience, memory, surroundings);
  const drafts = new KeptDrafts(memoryOf(context, "drafts.json"));
  const extras = { ...promptExtras(memory, conversations, surfaces), drafts, ...HOST };
  const parts = { store, conversations, approvals, inquiries, reviews, checkpoints, ...extras };
  const actions = new PanelActions(parts, front);
  const apart = new ApartSessions(parts, front);
  front.onTurnEnd = (sessionId, endId, beganAt) => void checkpoints.note(sessionId, endId, beganAt);
  const pages = pagesOf(context, log, { life, front, surfaces, store, work });
  const parted = [pages.pageTab, work, front, surroundings, terminals, changes, drafts];
  const dispose = () => endAll([...parted, extras.mentions, extras.context], life);
  return { ...pages, life, actions, apart, front, surfaces, approvals, reviews, documents, store, dispose };
}

async function endAll(parts: readonly vscode.Disposable[], life: ServerLife): Promise<void> {
  for (const each of parts) each.dispose();
  await life.stop();
}

/** Return the persistent values of this workspace, stored in a file of that name. */
function memoryOf({ storageUri }: vscode.ExtensionContext, name: string): Memory {
  return new Memory(storageUri && join(storageUri.fsPath, name));
}

/** Return the sources of extra prompt content: mentions and editor context. */
function promptExtras(
  memory: Memory,
  conversations: Conversations,
  surfaces: Surfaces,
): { readonly mentions: Mentions; readonly context: ContextTracker } {
  const mentions = new Mentions({
    list: () => conversations.pastTitles(),
    read: async (id, cwd) => transcriptOf(await conversations.read(id, cwd)),
  });
  const context = new ContextTracker(memory);
  context.onChange = () => surfaces.audience.post({ type: "context", context: context.shown });
  return { mentions, context };
}

interface Newsreaders {
  readonly conversations: Conversations;
  readonly bridge: ReviewBridge;
  readonly written: WrittenEdits;
  readonly work: () => Work;
}

/** Forward an agent's notifications. */
function news({
  conversations,
  bridge,
  written,
  work,
}: Newsreaders): Pick<EditorAnswerers, "onUpdate" | "onDraft" | "onJudged" | "onBoardChanged"> {
  return {
    onUpdate: (notification) => {
      if (conversations.takeUpdate(notification) === "live") bridge.receive(notification);
    },
    onDraft: (draft) => bridge.draft(draft),
    onJudged: (judged) => written.receive(judged),
    onBoardChanged: (change) => work().noteBoardChange(change),
  };
}

/** Return the pages of background work. The panel's badge shows how much of it waits for the user. */
function workOf(
  surroundings: EditorSurroundings,
  surfaces: Surfaces,
  act: (message: { type: "openPast"; sessionId: string; cwd: string }) => void,
): Work {
  const work = new Work();
  work.runs.shown.listen(() => surroundings.wait(work.runs.shown.value.waiting.length));
  work.onSession = (sessionId, cwd) => {
    act({ type: "openPast", sessionId, cwd });
    void surfaces.reveal();
  };
  return work;
}

/** Return the setup and the pages. The panel shows the setup until a model is configured. */
function pagesOf(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  { life, front, surfaces, store, work }: Pick<Engine, "life" | "front" | "surfaces" | "store"> & { work: Work },
): Pick<Engine, "installer" | "setup" | "pageTab"> {
  const installer = new Installer(
    context.globalStorageUri.fsPath,
    () => setup.noteInstallation(),
    (line) => log.info(line),
  );
  const setup: Setup = new Setup(context, life, installer);
  const pageTab: PageTab = new PageTab(context.extensionUri, {
    setup,
    life,
    work,
    sessionId: () => (store.get(front.shown) && life.state.phase === "ready" ? front.shown : undefined),
    open: openPlace,
    begin: async (text) => {
      firstRun.goOn();
      await surfaces.reveal();
      if (text) surfaces.audience.postSurely({ type: "refill", text, mentions: [], pictures: [] });
      surfaces.audience.postSurely({ type: "focus" });
    },
  });
  const firstRun = new FirstRun(setup, pageTab);
  surfaces.prepare = (webview, onOver) => firstRun.prepare(webview, onOver);
  return { installer, setup, pageTab };
}

/** Return whether edits made without asking are reviewed too. */
function showsWritten(): boolean {
  return vscode.workspace.getConfiguration("hermes").get<boolean>("edits.reviewWritten", true);
}

/** Return the terminals for an agent's commands, whose messages appear in its session. */
function terminalsOf(store: Store): Terminals {
  return new Terminals({
    onOutput: (sessionId, terminalId, text) => store.dispatch(sessionId, { type: "output", terminalId, text }),
    onExit: (sessionId, terminalId, { exitCode }) =>
      store.dispatch(sessionId, { type: "exited", terminalId, exitCode }),
  });
}

/** Serve an agent's reads and writes: documents under review in their decided state, others as in the editor. */
function filesThrough(documents: DocumentReviews): Pick<EditorAnswerers, "readFile" | "writeFile"> {
  return {
    readFile: async ({ path, line, limit }) => ({ content: linesFrom(await readShown(documents, path), line, limit) }),
    writeFile: async ({ path, content }) => {
      if (!vscode.workspace.isTrusted) throw new Error(NOT_TRUSTED);
      if (!(await documents.write(path, content))) await writeText(path, content);
    },
  };
}

async function readShown(documents: DocumentReviews, path: string): Promise<string> {
  await documents.settled();
  const text = documents.read(path) ?? (await readText(path));
  if (text !== undefined) return text;
  throw new NotThere(path);
}

function linesFrom(text: string, line?: number | null, limit?: number | null): string {
  if (line == null && limit == null) return text;
  const first = Math.max(0, (line ?? 1) - 1);
  return text
    .split("\n")
    .slice(first, limit == null ? undefined : first + limit)
    .join("\n");
}

function folders(): { cwd: string; more: readonly string[] } | undefined {
  const all = vscode.workspace.workspaceFolders?.filter(({ uri }) => uri.scheme === "file") ?? [];
  const shown = vscode.window.activeTextEditor?.document.uri;
  const active = shown && vscode.workspace.getWorkspaceFolder(shown);
  const first = all.find((each) => each === active) ?? all[0];
  if (!first) return undefined;
  return { cwd: first.uri.fsPath, more: all.filter((each) => each !== first).map(({ uri }) => uri.fsPath) };
}

async function start(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  answerers: EditorAnswerers,
): Promise<ServerProcess> {
  const settings = vscode.workspace.getConfiguration("hermes");
  const command = await locateServer(context);
  if (!command) {
    const canInstall = await wantedServer(context);
    throw canInstall
      ? new ServerError(messages.NOT_INSTALLED, "install")
      : new ServerError(messages.NO_PACKAGE, "settings");
  }
  log.info(messages.startingFrom([command.path, ...command.args].join(" "), command.source));
  const isTrusted = vscode.workspace.isTrusted;
  const version = String((context.extension.packageJSON as { version: unknown }).version);
  const trace = settings.get<boolean>("trace", false)
    ? (direction: string, frame: unknown) => log.trace(direction, JSON.stringify(frame))
    : undefined;
  // The SDK is most of this extension, and a window that never uses the agent never loads it.
  const { connect } = await import("./acp/link");
  const process_ = await startProcess({
    command,
    env: { ...process.env, HERMES_ACP_UNSTABLE: "1", ...settings.get<Record<string, string>>("server.env", {}) },
    cwd: folders()?.cwd ?? homedir(),
    onLogLine: (line) => log.info(line),
    greet: (input, output) => connect(input, output, answerers, { isTrusted }, version, trace),
  });
  const has = process_.link.greeting.agentInfo?.version ?? "";
  if (!isNewEnough(has)) {
    await process_.stop();
    // Another installation does not help if the setting names this one.
    const fix = command.source === messages.FROM_SETTING ? "settings" : "update";
    throw new ServerError(messages.tooOld(command.path, has, OLDEST), fix);
  }
  const remark = await remarkOn(context, command, has);
  return remark ? { ...process_, remark } : process_;
}
