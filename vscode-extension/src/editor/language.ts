/**
 * The language server: code actions and inline completion, if the user enables them.
 *
 * Knows: when it runs, and with which settings. Does not know: what it offers. Its client is loaded when it is first
 * wanted.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { languageServerFailed } from "../messages/server";
import type { Command } from "../server/command";

const STOP_MS = 5_000;

export class LanguageFeatures implements vscode.Disposable {
  private client: LanguageClient | undefined;
  /** One start or stop at a time. */
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

  /** Restart or stop it as the settings say. It runs only in a trusted workspace. */
  private refresh(): void {
    const settings = vscode.workspace.getConfiguration("hermes.lsp");
    const isWanted = vscode.workspace.isTrusted && settings.get<boolean>("enabled", false);
    if (!isWanted && !this.client) return;
    this.queue = this.queue
      .then(async () => {
        await this.stop();
        if (isWanted) await this.start(settings.get<boolean>("inlineCompletion", false));
      })
      .catch((error: unknown) => this.log.error(languageServerFailed(String(error))));
  }

  private async start(completes: boolean): Promise<void> {
    const command = await this.locate();
    if (!command) return;
    // The client is larger than the rest of this extension.
    const { languageClient } = await import("./language_client");
    const client = languageClient(command, completes, this.log);
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
