/** The entry point: what VS Code calls, and the registration of commands. */

import * as vscode from "vscode";

import { registerCommands } from "./editor/commands";
import { EditCommands } from "./edits/commands";
import { registerTexts } from "./edits/compare";
import { Marks } from "./edits/marks";
import { EditTree } from "./edits/tree";
import { LanguageFeatures } from "./editor/language";
import { Walkthrough } from "./editor/walkthrough";
import { build, type Engine } from "./engine";
import { PRODUCT } from "./messages/editor";
import { VIEW } from "./panel/surfaces";
import { locateServer } from "./server/located";

let engine: Engine | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel(PRODUCT, { log: true });
  const parts = build(context, log);
  engine = parts;
  context.subscriptions.push(
    log,
    registerTexts(),
    vscode.window.registerWebviewViewProvider(VIEW, parts.surfaces, {
      webviewOptions: { retainContextWhenHidden: true },
    }),
    vscode.window.registerWebviewPanelSerializer(VIEW, parts.surfaces),
    ...registerCommands(context, parts, log),
    ...registerEdits(context, parts),
    new LanguageFeatures(() => locateServer(context), log),
    new Walkthrough(parts.setup, parts.store),
  );
  // Sessions that were open before a reload are resumed. Nothing else needs the server yet.
  if (parts.front.hasSessions) void parts.life.link().catch((error: unknown) => log.error(String(error)));
}

function registerEdits(context: vscode.ExtensionContext, { reviews, documents }: Engine): readonly vscode.Disposable[] {
  const tree = new EditTree(reviews);
  return [
    documents,
    new Marks(documents, vscode.Uri.joinPath(context.extensionUri, "media")),
    tree.createView(),
    ...new EditCommands(reviews, documents, tree).register(),
  ];
}

export async function deactivate(): Promise<void> {
  await engine?.dispose();
  engine = undefined;
}
