/** Install the server into the extension's own virtual environment. */

import { spawn } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import * as messages from "../messages/server";

const PYTHONS = ["python3.13", "python3.12", "python3.11", "python3", "python"];
const CHECK = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
const UV_PYTHON = ">=3.11";
const CHECK_TIMEOUT_MS = 20_000;
const TIMEOUT_MS = 10 * 60_000;
const MAX_DETAIL_LINES = 60;

/** An installation failure: a sentence for people, and the output of the programs. */
export class InstallError extends Error {
  constructor(
    message: string,
    readonly details: string,
  ) {
    super(message);
  }
}

export interface Report {
  /** A step starts. */
  step(what: string): void;
  /** A program prints a line. */
  line(line: string): void;
}

/**
 * Make `folder` a virtual environment with the package. Restore the previous content if that fails. Rejects with
 * InstallError.
 */
export async function install(folder: string, requirement: string, report: Report): Promise<void> {
  const before = `${folder}.before`;
  await rm(before, { recursive: true, force: true });
  const isUpdate = await rename(folder, before).then(
    () => true,
    () => false,
  );
  try {
    await make(folder, requirement, report);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (isUpdate) await rename(before, folder);
    throw error;
  }
  await rm(before, { recursive: true, force: true });
}

async function make(folder: string, requirement: string, report: Report): Promise<void> {
  const inside = join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const [python, uv] = await Promise.all([findPython(), findUv()]);
  if (!python && !uv) throw new InstallError(messages.NO_PYTHON, "");
  report.step(messages.CREATING_ENVIRONMENT);
  if (python) await run(python, ["-m", "venv", folder], report);
  else if (uv) await run(uv, ["venv", "--python", UV_PYTHON, folder], report);
  report.step(messages.INSTALLING);
  const byUv = ["pip", "install", "--compile-bytecode", "--python", inside, requirement];
  if (uv && !python) return run(uv, byUv, report);
  // uv installs in a tenth of pip's time. Where it fails (only pip's settings may name the index), pip installs.
  const isInstalled =
    uv !== undefined &&
    (await run(uv, byUv, report).then(
      () => true,
      () => false,
    ));
  if (!isInstalled) await run(inside, pip(requirement), report);
}

function pip(requirement: string): readonly string[] {
  return ["-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check", requirement];
}

async function findPython(): Promise<string | undefined> {
  for (const name of PYTHONS) if (await works(name, ["-c", CHECK])) return name;
  return undefined;
}

async function findUv(): Promise<string | undefined> {
  const homes = [".local/bin", ".cargo/bin"].map((folder) => join(homedir(), folder, "uv"));
  for (const name of ["uv", ...homes]) if (await works(name, ["--version"])) return name;
  return undefined;
}

function works(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", timeout: CHECK_TIMEOUT_MS });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}

/** Run a program, reporting its output line by line. Rejects with InstallError. */
function run(program: string, args: readonly string[], report: Report): Promise<void> {
  const lines: string[] = [];
  const note = (line: string) => {
    lines.push(line);
    if (lines.length > MAX_DETAIL_LINES) lines.shift();
    if (line.trim()) report.line(line.trim());
  };
  return new Promise((resolve, reject) => {
    const fail = () => reject(new InstallError(reasonOf(lines.join("\n")), lines.join("\n").trim()));
    // The editor's own Python environment must not leak its packages into this one.
    const env = { ...process.env, PYTHONPATH: undefined, PYTHONHOME: undefined, NO_COLOR: "1" };
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: TIMEOUT_MS, env });
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", note);
    child.once("error", (error) => {
      note(error.message);
      fail();
    });
    child.once("close", (code) => (code === 0 ? resolve() : fail()));
  });
}

const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/no space left on device|errno 28/i, messages.NO_SPACE],
  [/permission denied|errno 13/i, messages.NO_PERMISSION],
  [/certificate_verify_failed|sslerror|invalid peer certificate/i, messages.CERTIFICATE_REFUSED],
  [
    /newconnectionerror|connecttimeout|temporary failure in name resolution|name or service not known|proxyerror|max retries exceeded|network is unreachable|dns error|error sending request/i,
    messages.INDEX_UNREACHABLE,
  ],
  [/is not a valid wheel|no such file|does not exist|looks like a path/i, messages.PACKAGE_UNREADABLE],
  [/requires a different python|requires-python|no matching distribution/i, messages.PACKAGES_MISSING],
];

/** Explain in a sentence why an installer failed, based on its output. */
export function reasonOf(output: string): string {
  return REASONS.find(([pattern]) => pattern.test(output))?.[1] ?? messages.INSTALLER_FAILED;
}
