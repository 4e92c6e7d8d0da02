// A session whose editor runs an MCP server itself, over the official TypeScript SDKs of both protocols; prints one
// JSON summary.
//
// Usage: node carried_server.mjs '{"command": …, "env": {…}, "workspace": …}'

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk/unstable";
import { fromMcpServer } from "@agentclientprotocol/sdk/experimental/mcp-server";
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod/v4";

import { bounded } from "./editor.mjs";

const options = JSON.parse(process.argv[2]);
const summary = { permissions: [], cards: {}, commands: [], aborted: false };
const said = (text) => ({ content: [{ type: "text", text }] });
const watchers = new Set();
const extras = [];

function wake() {
  for (const watcher of [...watchers]) watcher();
}

/** Wait until something that arrives fulfils a condition. */
function until(isSo, what) {
  let watcher;
  const found = new Promise((resolve) => {
    watcher = () => isSo() && resolve();
    watchers.add(watcher);
    watcher();
  });
  return bounded(found, what).finally(() => watchers.delete(watcher));
}

function makeServer() {
  const server = new McpServer(
    { name: "carried", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true }, prompts: { listChanged: true } } },
  );
  const text = z.object({ text: z.string() });
  server.registerTool("echo", { inputSchema: text, annotations: { readOnlyHint: true } }, ({ text }) => said(`echo ${text}`));
  server.registerTool("wait", { inputSchema: z.object({}) }, async (_, context) => {
    const { signal, notify, _meta } = context.mcpReq;
    const progressToken = _meta?.progressToken;
    await notify({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2, message: "waiting" } });
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    summary.aborted = true;
    wake();
    return said("stopped");
  });
  server.registerPrompt("review", { description: "Review a file", argsSchema: z.object({ path: z.string() }) }, ({ path }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Review ${path} with care.` } }],
  }));
  for (const name of extras) {
    server.registerPrompt(name, { description: name }, () => ({ messages: [] }));
  }
  server.registerResource("today", "memo://today", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, text: "Buy milk." }],
  }));
  return server;
}

function take({ update }) {
  if (update.sessionUpdate === "available_commands_update") summary.commands.push(update.availableCommands);
  if (update.sessionUpdate.startsWith("tool_call")) {
    const card = (summary.cards[update.toolCallId] ??= { texts: [] });
    card.title = update.title ?? card.title;
    card.status = update.status ?? card.status;
    for (const one of update.content ?? []) if (one.content?.type === "text") card.texts.push(one.content.text);
  }
  wake();
}

const agent = spawn(options.command, [], { cwd: options.workspace, env: options.env, stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => agent.on("close", (code, signal) => resolve(code ?? signal)));
const provider = new acp.McpOverAcpProvider();
const { client, agent: methods } = acp.methods;
const connection = acp
  .client({ name: "foreign-editor" })
  .onNotification(client.session.update, ({ params }) => take(params))
  .onRequest(client.session.requestPermission, ({ params }) => {
    summary.permissions.push(params.toolCall.title);
    return { outcome: { outcome: "selected", optionId: "allow_once" } };
  })
  .onRequest(client.mcp.message, provider.handleRequest)
  .connect(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)));
const request = (method, params) => bounded(connection.agent.request(method, params), method);

const greeted = await request(methods.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
summary.capabilities = greeted.agentCapabilities.mcpCapabilities;
const adapter = fromMcpServer(makeServer);
const registration = provider.registerServer(connection.agent, { name: "carried", handler: adapter.handler });
const { sessionId } = await request(methods.session.new, { cwd: options.workspace, mcpServers: [registration.declaration] });
const prompt = (text) => request(methods.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
const offered = (name) => summary.commands.at(-1)?.some((command) => command.name === name);

await until(() => offered("carried:review"), "the prompt among the commands");
summary.called = (await prompt("call them")).stopReason;
summary.reviewed = (await prompt("/carried:review a.py")).stopReason;
extras.push("explain");
adapter.notify.promptsChanged();
await until(() => offered("carried:explain"), "the further prompt among the commands");
const waiting = prompt("wait for ever");
const isWaiting = (card) => card.texts.some((text) => text.includes("1 of 2: waiting"));
await until(() => Object.values(summary.cards).some(isWaiting), "progress");
await connection.agent.notify(methods.session.cancel, { sessionId });
summary.waited = (await waiting).stopReason;
await until(() => summary.aborted, "the server to be told");
void registration.dispose(); // It is gone at once; anything else that the SDK waits for may take long.
summary.gone = (await prompt("call it again")).stopReason;
agent.stdin.end();
summary.exit = await bounded(ended, "the agent's end");
void adapter.close();
process.stdout.write(JSON.stringify(summary), () => process.exit());
