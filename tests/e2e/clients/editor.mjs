// A small editor on the official TypeScript SDK: it stores the updates, answers permission requests, and has
// files and, if requested, its own terminals.

import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk";

const WAIT_MS = 60_000;

/** Reject if the promise takes longer than the usual time limit. */
export function bounded(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited too long for ${what}`)), WAIT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

class Terminal {
  constructor({ command, args, cwd, env }) {
    this.output = "";
    this.process = spawn(command, args ?? [], {
      cwd,
      env: { ...process.env, ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])) },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.exit = new Promise((resolve) => {
      this.process.on("close", (exitCode, signal) => resolve({ exitCode, signal }));
    });
  }

  kill() {
    try {
      process.kill(-this.process.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

export class Editor {
  constructor({ command, env, workspace, hasTerminal, permission }) {
    this.options = { command, env, workspace };
    this.hasTerminal = hasTerminal;
    this.permission = permission;
    this.updates = [];
    this.permissions = [];
    this.calls = [];
    this.terminals = new Map();
    this.watchers = new Set();
  }

  app() {
    const keep = (name, answer) => async ({ params }) => {
      this.calls.push({ name, params });
      const result = await answer(params);
      this.wake();
      return result;
    };
    const { client } = acp.methods;
    const app = acp
      .client({ name: "foreign-editor" })
      .onNotification(client.session.update, ({ params }) => {
        this.updates.push(params);
        this.wake();
      })
      .onRequest(client.session.requestPermission, keep("permission", (params) => {
        this.permissions.push(params);
        return { outcome: { outcome: "selected", optionId: this.permission } };
      }))
      .onRequest(client.fs.readTextFile, keep("read", async ({ path }) => ({ content: await readFile(path, "utf8") })))
      .onRequest(client.fs.writeTextFile, keep("write", async ({ path, content }) => {
        await writeFile(path, content);
        return {};
      }));
    return this.hasTerminal ? this.withTerminals(app, keep) : app;
  }

  withTerminals(app, keep) {
    const { terminal } = acp.methods.client;
    const find = ({ terminalId }) => this.terminals.get(terminalId);
    return app
      .onRequest(terminal.create, keep("terminal", (params) => {
        const terminalId = `terminal-${this.terminals.size + 1}`;
        const opened = new Terminal(params);
        for (const stream of [opened.process.stdout, opened.process.stderr]) {
          stream.on("data", (data) => {
            opened.output += data;
            this.wake();
          });
        }
        this.terminals.set(terminalId, opened);
        return { terminalId };
      }))
      .onRequest(terminal.output, keep("output", (params) => ({ output: find(params).output, truncated: false })))
      .onRequest(terminal.waitForExit, keep("wait", (params) => find(params).exit))
      .onRequest(terminal.kill, keep("kill", (params) => {
        find(params).kill();
        return {};
      }))
      .onRequest(terminal.release, keep("release", (params) => {
        find(params).kill();
        return {};
      }));
  }

  async start() {
    const { command, env, workspace } = this.options;
    this.process = spawn(command, [], { cwd: workspace, env, stdio: ["pipe", "pipe", "pipe"] });
    this.errors = "";
    this.process.stderr.on("data", (data) => (this.errors += data));
    this.ended = new Promise((resolve) => this.process.on("close", (code, signal) => resolve(code ?? signal)));
    const stream = acp.ndJsonStream(Writable.toWeb(this.process.stdin), Readable.toWeb(this.process.stdout));
    this.connection = this.app().connect(stream);
    return this.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: this.hasTerminal },
      clientInfo: { name: "foreign-editor", version: "1" },
    });
  }

  request(method, params) {
    return bounded(this.connection.agent.request(method, params), method);
  }

  prompt(sessionId, text) {
    return this.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  }

  cancel(sessionId) {
    return this.connection.agent.notify(acp.methods.agent.session.cancel, { sessionId });
  }

  /** Wait until `find` returns something; call it again after every message. */
  async until(find, what) {
    let watcher;
    const found = new Promise((resolve, reject) => {
      watcher = () => {
        try {
          const value = find();
          if (value) resolve(value);
        } catch (error) {
          reject(error);
        }
      };
      this.watchers.add(watcher);
      watcher();
    });
    return bounded(found, what).finally(() => this.watchers.delete(watcher));
  }

  wake() {
    for (const watcher of [...this.watchers]) watcher();
  }

  async leave() {
    this.process.stdin.end();
    const code = await bounded(this.ended, "the agent's end");
    for (const terminal of this.terminals.values()) terminal.kill();
    return code;
  }
}

/** Fold updates into what the user sees at the end: messages joined, tool cards merged, in order of appearance. */
export function picture(notifications, sessionId) {
  const items = new Map();
  for (const { update } of notifications.filter((one) => one.sessionId === sessionId)) {
    const kind = update.sessionUpdate;
    if (kind.endsWith("_chunk")) {
      const key = `${kind} ${update.messageId}`;
      const item = items.get(key) ?? { kind, text: "" };
      items.set(key, { ...item, text: item.text + update.content.text });
    } else if (kind === "tool_call" || kind === "tool_call_update") {
      const { sessionUpdate: _, toolCallId, content, ...rest } = update;
      const diffs = content?.filter((one) => one.type === "diff");
      const item = items.get(toolCallId) ?? { kind: "card", toolCallId };
      items.set(toolCallId, { ...item, ...rest, ...(diffs ? { diffs } : {}) });
    } else if (kind === "plan") {
      items.set("plan", { kind, entries: update.entries });
    }
  }
  return [...items.values()];
}
