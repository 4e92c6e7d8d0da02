/** The server's wheel inside the extension's package, and the wheel that an installation was made from. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Bundled {
  /** The wheel's path. */
  readonly wheel: string;
  readonly version: string;
  readonly digest: string;
}

const MARKER = "hermes-wheel.txt";

/** Return the wheel in the extension's folder, or undefined if the extension was built without one. */
export async function readBundled(extension: string): Promise<Bundled | undefined> {
  try {
    const told = JSON.parse(await readFile(join(extension, "dist", "server.json"), "utf8")) as Record<string, unknown>;
    const { file, version, digest } = told;
    if (typeof file !== "string" || typeof version !== "string" || typeof digest !== "string") return undefined;
    return { wheel: join(extension, "dist", file), version, digest };
  } catch {
    return undefined;
  }
}

/** Return the digest of the wheel that an installation was made from, or an empty string. */
export async function installedDigest(folder: string): Promise<string> {
  return readFile(join(folder, MARKER), "utf8").catch(() => "");
}

/** Record which wheel an installation was made from. */
export async function noteInstalled(folder: string, digest: string): Promise<void> {
  await writeFile(join(folder, MARKER), digest);
}
