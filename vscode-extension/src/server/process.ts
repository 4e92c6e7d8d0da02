/** One server process and the connection to it. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";

import type { Link } from "../acp/link";
import * as messages from "../messages/server";
import type { Command } from "./command";
import { ServerError, type Remark } from "./state";

export interface ServerProcess {
  readonly link: Link;
  readonly command: Command;
  readonly remark?: Remark;
  /** Settles with a sentence for people once the process has ended, whoever ended it. */
  readonly ended: Promise<string>;
  /** Stop it: close its input, and kill it after a grace period. */
  stop(): Promise<void>;
}

export type Greet = (input: WritableStream<Uint8Array>, output: ReadableStream<Uint8Array>) => Promise<Link>;

export interface Start {
  readonly command: Command;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly onLogLine: (line: string) => void;
  readonly greet: Greet;
}

const INITIALIZE_TIMEOUT_MS = 30_000;
/** For a server whose dependencies are downloaded first. */
const DOWNLOAD_TIMEOUT_MS = 300_000;
const SHUTDOWN_GRACE_MS = 5_000;

/** Start the server and greet it. Rejects with a sentence for people. */
export async function startProcess({ command, env, cwd, onLogLine, greet }: Start): Promise<ServerProcess> {
  const child = spawn(command.path, [...command.args], { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  let lastLine = "";
  let isMissing = false;
  createInterface({ input: child.stderr }).on("line", (line) => {
    lastLine = line.trim() || lastLine;
    onLogLine(line);
  });
  child.stdin.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      isMissing = error.code === "ENOENT";
      resolve(isMissing ? missing(command) : messages.startFailed(command.path, error.message));
    });
    child.once("close", (code, signal) => {
      resolve(signal ? messages.endedBySignal(signal, lastLine) : messages.endedWithCode(code, lastLine));
    });
  });
  const waitMs = command.isFetched ? DOWNLOAD_TIMEOUT_MS : INITIALIZE_TIMEOUT_MS;
  const input = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
  const output = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
  const link = await firstOf(greet(input, output), ended, waitMs).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw isMissing
      ? new ServerError(missing(command), command.source === messages.FROM_SETTING ? "settings" : "install")
      : error;
  });
  const stop = async () => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), SHUTDOWN_GRACE_MS);
    await ended;
    clearTimeout(timer);
  };
  return { link, command, ended, stop };
}

function missing({ path, source }: Command): string {
  return source === messages.FROM_SETTING ? messages.configuredProgramMissing(path) : messages.programMissing(path);
}

async function firstOf(greeted: Promise<Link>, ended: Promise<string>, waitMs: number): Promise<Link> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(messages.noAnswer(waitMs / 1000))), waitMs);
  });
  const gone = ended.then((why): never => {
    throw new Error(why);
  });
  greeted.catch(() => undefined);
  gone.catch(() => undefined);
  try {
    return await Promise.race([greeted, gone, late]);
  } finally {
    clearTimeout(timer);
  }
}
