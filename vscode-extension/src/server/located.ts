/** Locate the server, based on the settings and the extension's own wheel. */

import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import * as vscode from "vscode";

import * as messages from "../messages/server";
import { installedDigest, readBundled } from "./bundled";
import { findCommand, isNewEnough, type Command } from "./command";
import type { Wanted } from "./installer";
import type { Remark } from "./state";

/** Find the command that starts the server, according to the current settings. */
export async function locateServer(context: vscode.ExtensionContext): Promise<Command | undefined> {
  const settings = vscode.workspace.getConfiguration("hermes");
  return findCommand({
    configured: settings.get<string>("server.command", "").trim(),
    configuredArgs: settings.get<string[]>("server.args", []),
    package: (await wantedServer(context))?.requirement ?? "",
    searchPath: process.env["PATH"] ?? "",
    home: homedir(),
    storage: context.globalStorageUri.fsPath,
    isWindows: process.platform === "win32",
    isExecutable: (path) =>
      access(path, constants.X_OK).then(
        () => true,
        () => false,
      ),
  });
}

/** Return the requirement to install: the one in the settings, or else the extension's wheel, or undefined. */
export async function wantedServer(context: vscode.ExtensionContext): Promise<Wanted | undefined> {
  const named = vscode.workspace.getConfiguration("hermes").get<string>("server.package", "").trim();
  if (named) return { requirement: named };
  const bundled = await readBundled(context.extensionPath);
  return bundled && { requirement: bundled.wheel, bundled };
}

/** Return a remark if a working server is older than the one in the extension. */
export async function remarkOn(
  context: vscode.ExtensionContext,
  command: Command,
  version: string,
): Promise<Remark | undefined> {
  const bundled = (await wantedServer(context))?.bundled;
  if (!bundled || command.isFetched) return undefined;
  if (!isNewEnough(version, bundled.version)) {
    const fix = command.source === messages.FROM_SETTING ? "settings" : "update";
    return { text: messages.olderThanBundled(command.path, version, bundled.version), fix };
  }
  if (command.source !== messages.FROM_OWN_INSTALLATION) return undefined;
  const digest = await installedDigest(join(context.globalStorageUri.fsPath, "server"));
  if (!digest || digest === bundled.digest) return undefined;
  return { text: messages.otherBuild(version), fix: "update" };
}
