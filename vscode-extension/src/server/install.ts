/**
 * Installing the server for people who have none: a virtual environment of the extension's own.
 *
 * Knows: Python, venv, pip. Does not know: when this is wanted.
 */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import * as messages from "../messages/server";

const run = promisify(execFile);
const PYTHONS = ["python3.13", "python3.12", "python3.11", "python3", "python"];
const CHECK = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
const TIMEOUT_MS = 10 * 60_000;

/** Make `storage`/server with the package in it. Rejects with a sentence for people. */
export async function install(storage: string, requirement: string, report: (what: string) => void): Promise<void> {
  const python = await findPython();
  if (!python) throw new Error(messages.NO_PYTHON);
  const folder = join(storage, "server");
  report(messages.CREATING_ENVIRONMENT);
  await run(python, ["-m", "venv", "--clear", folder], { timeout: TIMEOUT_MS });
  const inside = join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  report(messages.installing(requirement));
  await run(inside, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement], {
    timeout: TIMEOUT_MS,
  });
}

async function findPython(): Promise<string | undefined> {
  for (const name of PYTHONS) {
    const isGood = await run(name, ["-c", CHECK], { timeout: 20_000 }).then(
      () => true,
      () => false,
    );
    if (isGood) return name;
  }
  return undefined;
}
