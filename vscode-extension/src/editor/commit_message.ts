/**
 * A commit message for the staged changes, written by the agent into the Source Control input. Nothing is committed.
 */

import * as vscode from "vscode";

import { commitMessageFor, REST_LEFT_OUT } from "../messages/agent";
import * as messages from "../messages/editor";
import { withoutFence } from "./fence";

const MAX_DIFF = 60_000;

/** The part of the Git extension's API that is used here. */
interface Repository {
  readonly rootUri: vscode.Uri;
  readonly inputBox: { value: string };
  diff(isStaged: boolean): Promise<string>;
}
interface GitExtension {
  getAPI(version: 1): { readonly repositories: readonly Repository[] };
}

/** Asks the agent outside all conversations. Resolves to undefined if the user stops it. */
export type AskApart = (text: string, token: vscode.CancellationToken) => Promise<string | undefined>;

/** Write a message for the staged changes of the selected repository, or of the only one. */
export async function writeCommitMessage(ask: AskApart, given: vscode.SourceControl | undefined): Promise<void> {
  const git = vscode.extensions.getExtension<GitExtension>("vscode.git");
  const { repositories } = ((await git?.activate()) ?? git?.exports)?.getAPI(1) ?? { repositories: [] };
  const root = given?.rootUri?.toString();
  const repository = repositories.find(({ rootUri }) => rootUri.toString() === root) ?? repositories[0];
  const diff = await repository?.diff(true);
  if (!repository || !diff) {
    void vscode.window.showInformationMessage(messages.NOTHING_STAGED);
    return;
  }
  const shown = diff.length > MAX_DIFF ? `${diff.slice(0, MAX_DIFF)}\n${REST_LEFT_OUT}` : diff;
  const before = repository.inputBox.value;
  const written = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: messages.WRITING_COMMIT_MESSAGE, cancellable: true },
    (_, token) => ask(commitMessageFor(shown), token),
  );
  // Never overwrite what the user has written in the meantime.
  if (written && repository.inputBox.value === before) repository.inputBox.value = withoutFence(written);
}
