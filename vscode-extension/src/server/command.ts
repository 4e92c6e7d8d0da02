/**
 * Which command starts the server.
 *
 * Knows: the places it can be in, and their order. Does not know: how it is started, or what a setting is called.
 */

import { delimiter, join } from "node:path";

export interface Command {
  readonly path: string;
  readonly args: readonly string[];
  /** Where it was found, for people. */
  readonly source: string;
}

/** What the search may look at; a test gives its own. */
export interface Surroundings {
  readonly configured: string;
  readonly configuredArgs: readonly string[];
  readonly searchPath: string;
  readonly home: string;
  /** The folder this extension may install into. */
  readonly storage: string;
  readonly isWindows: boolean;
  isExecutable(path: string): Promise<boolean>;
}

export const SERVER = "hermes-acp";
export const PACKAGE = "hermes-acp-server";
/** The oldest server that this extension can work with. */
export const OLDEST = "0.1.0";

/** Find the command: the setting, the search path, the usual homes, the own installation, then uvx. */
export async function findCommand(around: Surroundings): Promise<Command | undefined> {
  if (around.configured) {
    return { path: around.configured, args: around.configuredArgs, source: "the setting hermes.server.command" };
  }
  const onPath = around.searchPath.split(delimiter).filter(Boolean);
  const places: readonly [folder: string, source: string][] = [
    ...onPath.map((folder): [string, string] => [folder, "PATH"]),
    [join(around.home, ".local", "bin"), "~/.local/bin"],
    [join(around.home, ".local", "share", SERVER, "bin"), `~/.local/share/${SERVER}`],
    [ownFolder(around), "this extension's own installation"],
  ];
  for (const [folder, source] of places) {
    const path = join(folder, around.isWindows ? `${SERVER}.exe` : SERVER);
    if (await around.isExecutable(path)) return { path, args: around.configuredArgs, source };
  }
  return findUvx(around, onPath);
}

async function findUvx(around: Surroundings, folders: readonly string[]): Promise<Command | undefined> {
  for (const folder of folders) {
    const path = join(folder, around.isWindows ? "uvx.exe" : "uvx");
    if (await around.isExecutable(path)) {
      return { path, args: ["--from", PACKAGE, SERVER, ...around.configuredArgs], source: "uvx" };
    }
  }
  return undefined;
}

/** Give the folder of programs of the installation that the extension makes itself. */
export function ownFolder(around: Pick<Surroundings, "storage" | "isWindows">): string {
  return join(around.storage, "server", around.isWindows ? "Scripts" : "bin");
}

/** Tell whether a version, as the server gives it, is new enough; one that cannot be read is taken as it is. */
export function isNewEnough(version: string, oldest: string = OLDEST): boolean {
  const numbers = (text: string) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number);
  const [has, wants] = [numbers(version), numbers(oldest)];
  if (!has || !wants) return true;
  for (const [at, want] of wants.entries()) {
    const given = has[at] ?? 0;
    if (given !== want) return given > want;
  }
  return true;
}
