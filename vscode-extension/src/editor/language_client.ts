/**
 * The client of the language server.
 *
 * It is a separate bundle, loaded on first use.
 */

import type { LogOutputChannel } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { LANGUAGE_CLIENT } from "../messages/editor";
import type { Command } from "../server/command";

/** The enabled features: code actions, suggestions while typing. */
export interface Features {
  readonly acts: boolean;
  readonly completes: boolean;
}

/** Create a client without starting it. */
export function languageClient(command: Command, { acts, completes }: Features, log: LogOutputChannel): LanguageClient {
  const run = { command: command.path, args: [...command.args, "lsp"] };
  return new LanguageClient("hermes.lsp", LANGUAGE_CLIENT, run, {
    documentSelector: [{ scheme: "file" }],
    outputChannel: log,
    ...(acts ? {} : { middleware: { provideCodeActions: () => [] } }),
    initializationOptions: { inlineCompletion: { enabled: completes } },
  });
}
