/**
 * The language server: code actions and inline completion, if the user enables them.
 *
 * Its client is loaded on first use.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { CODE_ACTIONS_ON, COMPLETION_ON, TRUST_FIRST } from "../messages/editor";
import { languageServerFailed } from "../messages/server";
import type { Command } from "../server/command";
import type { Features } from "./language_client";

const STOP_MS = 5_000;

/** Enable a feature for all folders, and explain how to use it. */
export async function enableFeature(setting: "enabled" | "inlineCompletion"): Promise<void> {
  await vscode.workspace.getConfiguration("hermes.lsp").update(setting, true, vscode.ConfigurationTarget.Global);
  const said = setting === "enabled" ? CODE_ACTIONS_ON : COMPLETION_ON;
  void vscode.window.showInformationMessage(vscode.workspace.isTrusted ? said : `${said} ${TRUST_FIRST}`);
}

export class LanguageFeatures implements vscode.Disposable {
  private client: LanguageClient | undefined;
  /** Serialises starts and stops. */
  private queue: Promise<void> = Promise.resolve();
  private readonly subscriptions: readonly vscode.Disposable[];

  constructor(
    private readonly locate: () => Promise<Command | undefined>,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions = [
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("hermes.lsp") || event.affectsConfiguration("hermes.server")) this.refresh();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
    ];
    this.refresh();
  }

  /** Start, restart or stop it according to the settings. It runs only in a trusted workspace. */
  private refresh(): void {
    const settings = vscode.workspace.getConfiguration("hermes.lsp");
    const features = {
      acts: settings.get<boolean>("enabled", false),
      completes: settings.get<boolean>("inlineCompletion", false),
    };
    const isWanted = vscode.workspace.isTrusted && (features.acts || features.completes);
    if (!isWanted && !this.client) return;
    this.queue = this.queue
      .then(async () => {
        await this.stop();
        if (isWanted) await this.start(features);
      })
      .catch((error: unknown) => this.log.error(languageServerFailed(String(error))));
  }

  private async start(features: Features): Promise<void> {
    const command = await this.locate();
    if (!command) return;
    // The client is larger than the rest of this extension.
    const { languageClient } = await import("./language_client");
    const client = languageClient(command, features, this.log);
    this.client = client;
    await client.start();
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose(STOP_MS);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    void this.stop();
  }
}
