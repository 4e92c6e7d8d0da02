/** Find the command that starts the server. */

import { delimiter, join } from "node:path";

import { FROM_OWN_INSTALLATION, FROM_SETTING } from "../messages/server";

export interface Command {
  readonly path: string;
  readonly args: readonly string[];
  /** Where it was found, as a text for people. */
  readonly source: string;
  /** Whether its first start may have to download it. */
  readonly isFetched?: boolean;
}

/** The inputs of the search, replaceable in tests. */
export interface Surroundings {
  readonly configured: string;
  readonly configuredArgs: readonly string[];
  /** The package for uvx, such as a wheel, or empty. */
  readonly package: string;
  readonly searchPath: string;
  readonly home: string;
  /** The folder this extension may install into. */
  readonly storage: string;
  readonly isWindows: boolean;
  isExecutable(path: string): Promise<boolean>;
}

export const SERVER = "hermes-acp";
/** The oldest server version that this extension supports. */
export const OLDEST = "0.1.0";

/**
 * Find the command: the setting, our own installation, the search path, the usual folders, then uvx. Our own
 * installation comes first because the user asked for it, for example when the others were too old.
 */
export async function findCommand(around: Surroundings): Promise<Command | undefined> {
  if (around.configured) {
    return { path: around.configured, args: around.configuredArgs, source: FROM_SETTING };
  }
  const onPath = around.searchPath.split(delimiter).filter(Boolean);
  const places: readonly [folder: string, source: string][] = [
    [ownFolder(around), FROM_OWN_INSTALLATION],
    ...onPath.map((folder): [string, string] => [folder, "PATH"]),
    [join(around.home, ".local", "bin"), "~/.local/bin"],
    [join(around.home, ".local", "share", SERVER, "bin"), `~/.local/share/${SERVER}`],
  ];
  for (const [folder, source] of places) {
    const path = join(folder, around.isWindows ? `${SERVER}.exe` : SERVER);
    if (await around.isExecutable(path)) return { path, args: around.configuredArgs, source };
  }
  // An editor started from the desktop often has a shorter search path than a terminal.
  const homes = [".local/bin", ".cargo/bin"].map((folder) => join(around.home, folder));
  return around.package ? findUvx(around, [...onPath, ...homes]) : undefined;
}

async function findUvx(around: Surroundings, folders: readonly string[]): Promise<Command | undefined> {
  for (const folder of folders) {
    const path = join(folder, around.isWindows ? "uvx.exe" : "uvx");
    if (await around.isExecutable(path)) {
      const args = ["--from", around.package, SERVER, ...around.configuredArgs];
      return { path, args, source: "uvx", isFetched: true };
    }
  }
  return undefined;
}

/** Return the folder of programs in the extension's own installation. */
export function ownFolder(around: Pick<Surroundings, "storage" | "isWindows">): string {
  return join(around.storage, "server", around.isWindows ? "Scripts" : "bin");
}

/** Return whether a version is not older than another. An unparsable version counts as new enough. */
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
