// A conversation with `hermes-acp serve` over the official TypeScript SDK's HTTP or WebSocket client; prints one JSON
// summary.
//
// Usage: node http_conversation.mjs '{"url": …, "token": …, "transport": "http"|"websocket", "workspace": …}'

import { readFileSync } from "node:fs";
import { join } from "node:path";

import * as acp from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";

import { Editor, bounded, picture } from "./editor.mjs";

const options = JSON.parse(process.argv[2]);
const { session } = acp.methods.agent;

function open() {
  if (options.transport === "http") {
    return createHttpStream(options.url, { headers: { Authorization: `Bearer ${options.token}` } });
  }
  const carried = Buffer.from(options.token).toString("base64url");
  return createWebSocketStream(options.url.replace("http:", "ws:"), {
    protocols: ["acp", `base64url.bearer.${carried}`],
  });
}

/** The same editor as over stdio, at the other end of a stream. */
class RemoteEditor extends Editor {
  async start() {
    this.stream = open();
    this.connection = this.app().connect(this.stream);
    return this.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
      clientInfo: { name: "remote-editor", version: "1" },
    });
  }

  async leave() {
    this.connection.close();
    await bounded(this.connection.closed, "the end of the connection");
  }
}

const file = () => readFileSync(join(options.workspace, "a.py"), "utf8");
const summary = {};

async function first() {
  const editor = new RemoteEditor({ ...options, permission: "reject_once" });
  summary.agent = (await editor.start()).agentInfo.name;
  const { sessionId } = await editor.request(session.new, { cwd: options.workspace, mcpServers: [] });
  summary.refused = { ...(await editor.prompt(sessionId, "refuse me")), file: file() };
  editor.permission = "allow_once";
  summary.edited = { ...(await editor.prompt(sessionId, "edit the file")), file: file() };
  summary.diffs = editor.permissions.map(({ toolCall }) => toolCall.content.find((one) => one.type === "diff").newText);
  const running = editor.prompt(sessionId, "talk for ever");
  const heard = (one) => one.update.sessionUpdate === "agent_message_chunk" && one.update.content.text.includes("one");
  await editor.until(() => editor.updates.some(heard), "the first word");
  await editor.cancel(sessionId);
  summary.cancelled = (await running).stopReason;
  summary.after = (await editor.prompt(sessionId, "still there?")).stopReason;
  summary.live = picture(editor.updates, sessionId);
  await editor.leave();
  return sessionId;
}

async function second(sessionId) {
  const editor = new RemoteEditor({ ...options, permission: "allow_once" });
  await editor.start();
  const { sessions } = await editor.request(session.list, { cwd: options.workspace });
  summary.listed = sessions.map((one) => one.sessionId === sessionId);
  await editor.request(session.load, { sessionId, cwd: options.workspace, mcpServers: [] });
  const seen = () => picture(editor.updates, sessionId).filter((item) => item.kind !== "user_message_chunk");
  await editor.until(() => seen().length >= summary.live.length, "the replay");
  summary.replay = seen();
  const unknown = { sessionId: "ses_unknown", cwd: options.workspace, mcpServers: [] };
  summary.unknown = await editor.request(session.load, unknown).then(() => 0, (error) => error.code);
  summary.goesOn = (await editor.prompt(sessionId, "still there?")).stopReason;
  await editor.request(session.close, { sessionId });
  await editor.leave();
}

await second(await first());
console.log(JSON.stringify(summary));
