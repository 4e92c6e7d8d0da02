/** The commands for the palette, menus and key bindings. */

import * as vscode from "vscode";

import type { Engine } from "../engine";
import { READ_COMMAND_FIRST } from "../messages/editor";
import { installFailed, INSTALLING_SERVER, NO_PACKAGE, SHOW_LOG } from "../messages/server";
import { wantedServer } from "../server/located";
import { fileOf, selectionOf } from "./mention_of";
import { writeCommitMessage } from "./commit_message";
import { enableFeature } from "./language";
import { registerInline } from "./inline";

type Work = (...given: never[]) => unknown;

export function registerCommands(
  context: vscode.ExtensionContext,
  engine: Engine,
  log: vscode.LogOutputChannel,
): readonly vscode.Disposable[] {
  const commands = { ...sessionCommands(engine), ...serverCommands(context, engine, log), ...codeCommands(engine) };
  return [
    ...Object.entries(commands).map(([name, work]) =>
      vscode.commands.registerCommand(name, work as (...given: unknown[]) => unknown),
    ),
    ...registerInline(engine),
  ];
}

/** Show the panel and its sessions, and answer questions there. */
function sessionCommands(engine: Engine): Readonly<Record<string, Work>> {
  const { actions, front, surfaces } = engine;
  return {
    "hermes.open": async () => {
      await surfaces.reveal();
      surfaces.audience.postSurely({ type: "focus" });
    },
    "hermes.showQuestion": async () => {
      if (front.asking) front.select(front.asking);
      await surfaces.reveal();
      surfaces.audience.postSurely({ type: "showQuestion" });
    },
    "hermes.openInTab": () => surfaces.openTab(),
    "hermes.newSession": async () => {
      await surfaces.reveal();
      actions.receive({ type: "new" }, () => undefined);
    },
    "hermes.history": async () => {
      await surfaces.reveal();
      surfaces.audience.postSurely({ type: "showPast" });
    },
    "hermes.stop": () => actions.receive({ type: "cancel", sessionId: front.shown }, () => undefined),
    "hermes.allowOnce": () => answerFirst(engine, "allow_once"),
    "hermes.rejectOnce": () => answerFirst(engine, "reject_once"),
  };
}

/** Run the server, and open the pages about it. */
function serverCommands(
  context: vscode.ExtensionContext,
  engine: Engine,
  log: vscode.LogOutputChannel,
): Readonly<Record<string, Work>> {
  const { life, setup, pageTab } = engine;
  return {
    "hermes.restart": () => life.restart().catch((error: unknown) => log.error(String(error))),
    "hermes.showLog": () => log.show(true),
    "hermes.openSettings": () =>
      vscode.commands.executeCommand("workbench.action.openSettings", "@ext:hermes-acp.hermes-acp"),
    "hermes.install": () => installServer(context, engine, log),
    "hermes.setUp": async () => {
      await setup.noteMissing();
      pageTab.open("setup");
    },
    "hermes.mcp": () => pageTab.open("mcp"),
    "hermes.context": () => pageTab.open("context"),
    "hermes.trust": () => pageTab.open("trust"),
    "hermes.board": () => pageTab.open("board"),
    "hermes.runs": () => pageTab.open("runs"),
    "hermes.schedules": () => pageTab.open("schedules"),
    "hermes.models": () => pageTab.open("setup"),
  };
}

/** Commands for the open code. */
function codeCommands({ apart, surfaces }: Engine): Readonly<Record<string, Work>> {
  return {
    "hermes.addSelection": async () => {
      const editor = vscode.window.activeTextEditor;
      if (!editor) return;
      const mention = editor.selection.isEmpty ? fileOf(editor.document.uri) : selectionOf(editor);
      await surfaces.reveal();
      surfaces.audience.postSurely({ type: "insert", mention });
    },
    "hermes.addFile": async (uri: vscode.Uri) => {
      const stat = await vscode.workspace.fs.stat(uri);
      await surfaces.reveal();
      const kind = stat.type & vscode.FileType.Directory ? "folder" : "file";
      surfaces.audience.postSurely({ type: "insert", mention: fileOf(uri, kind) });
    },
    "hermes.commitMessage": (given?: vscode.SourceControl) =>
      writeCommitMessage((text, token) => apart.ask(text, token), given),
    "hermes.enableCodeActions": () => enableFeature("enabled"),
    "hermes.enableCompletion": () => enableFeature("inlineCompletion"),
  };
}

/** Answer the oldest open question of the shown session. */
async function answerFirst({ store, front, actions, surfaces, approvals }: Engine, kind: string): Promise<void> {
  const asking = store
    .get(front.shown)
    ?.items.find((item) => item.type === "call" && item.approval?.answer === undefined && item.approval);
  if (asking?.type !== "call" || !asking.approval) return;
  const { requestId, options } = asking.approval;
  const option = options.find((each) => each.kind === kind);
  if (!option) return;
  if (!surfaces.isShown) {
    // The first press shows the question and the next one answers it, so that nobody answers unseen questions.
    await surfaces.reveal();
    return;
  }
  if (kind.startsWith("allow") && !approvals.canAllow(requestId)) {
    await surfaces.reveal();
    void vscode.window.showInformationMessage(READ_COMMAND_FIRST);
    return;
  }
  actions.receive({ type: "answer", requestId, option: option.id, comment: "" }, () => undefined);
}

/** Install the server into the extension's own environment, replacing the running one. */
async function installServer(
  context: vscode.ExtensionContext,
  { life, installer, setup }: Engine,
  log: vscode.LogOutputChannel,
): Promise<void> {
  const wanted = await wantedServer(context);
  if (!wanted) {
    await vscode.window.showErrorMessage(NO_PACKAGE);
    return;
  }
  const progress = { location: vscode.ProgressLocation.Notification, title: INSTALLING_SERVER };
  await life.stop();
  const isInstalled = await vscode.window.withProgress(progress, () => installer.install(wanted));
  // If an update failed, the previous version has been restored.
  await life.restart().catch((error: unknown) => log.error(String(error)));
  await setup.look();
  if (isInstalled || installer.state.phase !== "failed") return;
  const chosen = await vscode.window.showErrorMessage(installFailed(installer.state.text), SHOW_LOG);
  if (chosen === SHOW_LOG) log.show(true);
}
