/**
 * The client of the language server.
 *
 * Knows: how the server is started and configured. Does not know: when it runs. It is a bundle of its own, loaded
 * when it is first wanted.
 */

import type { LogOutputChannel } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { LANGUAGE_CLIENT } from "../messages/editor";
import type { Command } from "../server/command";

/** What the user wants of it: code actions, suggestions while they type. */
export interface Features {
  readonly acts: boolean;
  readonly completes: boolean;
}

/** Make a client that is not started yet. */
export function languageClient(command: Command, { acts, completes }: Features, log: LogOutputChannel): LanguageClient {
  const run = { command: command.path, args: [...command.args, "lsp"] };
  return new LanguageClient("hermes.lsp", LANGUAGE_CLIENT, run, {
    documentSelector: [{ scheme: "file" }],
    outputChannel: log,
    ...(acts ? {} : { middleware: { provideCodeActions: () => [] } }),
    initializationOptions: { inlineCompletion: { enabled: completes } },
  });
}
