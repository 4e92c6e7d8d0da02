/** The server's lifecycle: started on demand, restarted after failures, one operation at a time. */

import type { Link } from "../acp/link";
import * as messages from "../messages/server";
import type { Command } from "./command";
import type { ServerProcess } from "./process";
import { ServerError, type State } from "./state";

export interface Watcher {
  onState(state: State): void;
  /** Receive a new connection, which is in use once this settles. */
  onLink(link: Link): Promise<void>;
  onLost(why: string): void;
}

const MAX_FAILURES = 3;
const FAILURE_WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 250;

export class ServerLife {
  state: State = { phase: "off" };
  /** The last started command. */
  command: Command | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private process: ServerProcess | undefined;
  private failures: number[] = [];

  constructor(
    private readonly make: () => Promise<ServerProcess>,
    private readonly watcher: Watcher,
    private readonly now: () => number = Date.now,
    private readonly pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  ) {}

  /** Return the connection, starting the server if necessary. Rejects with ServerError. */
  link(): Promise<Link> {
    return this.inTurn(async () => (this.process ?? (await this.start())).link);
  }

  /** Restart it, whatever its state. */
  restart(): Promise<void> {
    this.failures = [];
    return this.inTurn(async () => {
      await this.end();
      await this.start();
    });
  }

  /** Stop it permanently. */
  stop(): Promise<void> {
    return this.inTurn(async () => {
      await this.end();
      this.show({ phase: "off" });
    });
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => undefined);
    return done;
  }

  private async start(): Promise<ServerProcess> {
    this.show({ phase: "starting", text: messages.STARTING });
    try {
      const process = await this.make();
      this.process = process;
      this.command = process.command;
      void process.ended.then((why) => this.onEnd(process, why));
      await this.watcher.onLink(process.link);
      const version = process.link.greeting.agentInfo?.version ?? "";
      this.show({ phase: "ready", version, ...(process.remark ? { remark: process.remark } : {}) });
      return process;
    } catch (error) {
      const fix = error instanceof ServerError ? error.fix : "log";
      const text = error instanceof Error ? error.message : String(error);
      this.show({ phase: "failed", text, fix });
      throw error;
    }
  }

  private async end(): Promise<void> {
    const process = this.process;
    this.process = undefined;
    await process?.stop();
  }

  /** Restart after a failure: at once, then with increasing delays, then only on request. */
  private onEnd(process: ServerProcess, why: string): void {
    if (this.process !== process) return;
    this.process = undefined;
    this.watcher.onLost(why);
    const now = this.now();
    this.failures = [...this.failures.filter((at) => now - at < FAILURE_WINDOW_MS), now];
    if (this.failures.length > MAX_FAILURES) {
      this.show({ phase: "failed", text: messages.failedRepeatedly(why, this.failures.length), fix: "log" });
      return;
    }
    this.show({ phase: "starting", text: messages.RESTARTING });
    const pauseMs = FIRST_PAUSE_MS * (2 ** (this.failures.length - 1) - 1);
    void this.inTurn(async () => {
      await this.pause(pauseMs);
      if (!this.process) await this.start();
    }).catch(() => undefined);
  }

  private show(state: State): void {
    this.state = state;
    this.watcher.onState(state);
  }
}
