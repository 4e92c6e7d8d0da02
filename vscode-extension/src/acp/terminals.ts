/** Commands that an agent runs in this editor, with bounded output. */

import { spawn, type ChildProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

import type * as acp from "@agentclientprotocol/sdk/unstable";

import { NotThere } from "./methods";

const MAX_BYTES = 1024 * 1024;

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface Watcher {
  onOutput(sessionId: string, terminalId: string, text: string): void;
  onExit(sessionId: string, terminalId: string, exit: Exit): void;
}

interface Running {
  readonly child: ChildProcess;
  readonly limit: number;
  readonly exited: Promise<Exit>;
  output: string;
  isTruncated: boolean;
  exit?: Exit;
}

export class Terminals {
  private readonly running = new Map<string, Running>();
  private started = 0;

  constructor(private readonly watcher: Watcher) {}

  create(request: acp.CreateTerminalRequest): acp.CreateTerminalResponse {
    this.started += 1;
    const terminalId = `terminal-${process.pid}-${this.started}`;
    const env = Object.fromEntries((request.env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(request.command, request.args ?? [], {
      ...(request.cwd ? { cwd: request.cwd } : {}),
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    const terminal: Running = {
      child,
      limit: request.outputByteLimit ?? MAX_BYTES,
      exited: this.exitOf(child, request.sessionId, terminalId),
      output: "",
      isTruncated: false,
    };
    this.running.set(terminalId, terminal);
    this.follow(terminal, request.sessionId, terminalId);
    return { terminalId };
  }

  private exitOf(child: ChildProcess, sessionId: string, terminalId: string): Promise<Exit> {
    return new Promise((resolve) => {
      const settle = (exit: Exit) => {
        const terminal = this.running.get(terminalId);
        if (terminal) terminal.exit = exit;
        this.watcher.onExit(sessionId, terminalId, exit);
        resolve(exit);
      };
      child.once("close", (exitCode, signal) => settle({ exitCode, signal }));
      child.once("error", (error) => {
        this.watcher.onOutput(sessionId, terminalId, `${error.message}\n`);
        settle({ exitCode: 127, signal: null });
      });
    });
  }

  private follow(terminal: Running, sessionId: string, terminalId: string): void {
    for (const stream of [terminal.child.stdout, terminal.child.stderr]) {
      const decoder = new StringDecoder("utf8");
      stream?.on("data", (data: Buffer) => {
        const text = decoder.write(data);
        terminal.output += text;
        if (Buffer.byteLength(terminal.output) > terminal.limit) {
          terminal.output = tailOf(terminal.output, terminal.limit);
          terminal.isTruncated = true;
        }
        this.watcher.onOutput(sessionId, terminalId, text);
      });
    }
  }

  output({ terminalId }: acp.TerminalOutputRequest): acp.TerminalOutputResponse {
    const { output, isTruncated, exit } = this.find(terminalId);
    return { output, truncated: isTruncated, ...(exit ? { exitStatus: exit } : {}) };
  }

  wait({ terminalId }: acp.WaitForTerminalExitRequest): Promise<acp.WaitForTerminalExitResponse> {
    return this.find(terminalId).exited;
  }

  kill({ terminalId }: acp.KillTerminalRequest): void {
    killGroup(this.find(terminalId).child);
  }

  release({ terminalId }: acp.ReleaseTerminalRequest): void {
    killGroup(this.find(terminalId).child);
    this.running.delete(terminalId);
  }

  /** End all running commands. */
  dispose(): void {
    for (const { child } of this.running.values()) killGroup(child);
    this.running.clear();
  }

  private find(id: string): Running {
    const terminal = this.running.get(id);
    if (!terminal) throw new NotThere(id);
    return terminal;
  }
}

/** Keep the end of a text without splitting a character. */
function tailOf(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  let start = whole.length - bytes;
  while (start < whole.length && ((whole[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return whole.subarray(start).toString();
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === "win32") child.kill();
    else process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
