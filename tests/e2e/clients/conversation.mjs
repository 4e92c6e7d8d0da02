// A whole conversation with hermes-acp over the official TypeScript SDK; prints one JSON summary.
//
// Usage: node conversation.mjs '{"command": …, "env": {…}, "workspace": …, "hasTerminal": true}'

import { readFileSync } from "node:fs";
import { join } from "node:path";

import * as acp from "@agentclientprotocol/sdk";

import { Editor, picture } from "./editor.mjs";

const options = JSON.parse(process.argv[2]);
const { session } = acp.methods.agent;
const file = () => readFileSync(join(options.workspace, "a.py"), "utf8");
const summary = {};

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function edit(editor, sessionId) {
  editor.permission = "reject_once";
  const refused = await editor.prompt(sessionId, "refuse me");
  summary.refused = { stopReason: refused.stopReason, file: file() };
  editor.permission = "allow_once";
  const allowed = await editor.prompt(sessionId, "edit the file");
  summary.edited = { stopReason: allowed.stopReason, file: file() };
  summary.permissions = editor.permissions.map(({ toolCall, options: offered }) => ({
    toolCallId: toolCall.toolCallId,
    diffs: toolCall.content.filter((one) => one.type === "diff"),
    kinds: offered.map((option) => option.kind),
  }));
}

async function cancelStream(editor, sessionId) {
  const running = editor.prompt(sessionId, "talk for ever");
  const heard = (one) => one.update.sessionUpdate === "agent_message_chunk" && one.update.content.text.includes("one");
  await editor.until(() => editor.updates.some(heard), "the first word");
  await editor.cancel(sessionId);
  summary.cancelledStream = (await running).stopReason;
}

async function cancelCommand(editor, sessionId) {
  const running = editor.prompt(sessionId, "sleep for ever");
  const shown = () => {
    const texts = [...editor.terminals.values()].map((terminal) => terminal.output);
    for (const { update } of editor.updates) {
      if (update.sessionUpdate === "tool_call_update") texts.push(JSON.stringify(update.content ?? ""));
    }
    return texts.map((text) => text.match(/sleeper (\d+)/)).find(Boolean);
  };
  const pid = Number((await editor.until(shown, "the sleeping command"))[1]);
  await editor.cancel(sessionId);
  const { stopReason } = await running;
  await Promise.all([...editor.terminals.values()].map((terminal) => terminal.exit));
  summary.cancelledCommand = { stopReason, isAlive: isAlive(pid) };
}

async function first() {
  const editor = new Editor({ ...options, permission: "allow_once" });
  const greeted = await editor.start();
  summary.initialize = greeted;
  const opened = await editor.request(session.new, { cwd: options.workspace, mcpServers: [] });
  const { sessionId } = opened;
  summary.modes = opened.modes;
  await edit(editor, sessionId);
  const ran = await editor.prompt(sessionId, "run the command");
  summary.ran = { stopReason: ran.stopReason, terminals: [...editor.terminals.values()].map((one) => one.output) };
  await cancelStream(editor, sessionId);
  await cancelCommand(editor, sessionId);
  summary.after = (await editor.prompt(sessionId, "still there?")).stopReason;
  await editor.request(session.setMode, { sessionId, modeId: "plan" });
  summary.calls = editor.calls.map((call) => call.name);
  summary.statuses = {};
  for (const { update } of editor.updates) {
    if (update.status) (summary.statuses[update.toolCallId] ??= []).push(update.status);
  }
  summary.kinds = [...new Set(editor.updates.map((one) => one.update.sessionUpdate))].sort();
  summary.live = picture(editor.updates, sessionId);
  await editor.request(session.close, { sessionId });
  summary.exit = await editor.leave();
  summary.errors = editor.errors;
  return sessionId;
}

async function second(sessionId) {
  const editor = new Editor({ ...options, permission: "allow_once" });
  await editor.start();
  const { sessions } = await editor.request(session.list, { cwd: options.workspace });
  summary.listed = sessions.map((one) => ({ ...one, isOurs: one.sessionId === sessionId }));
  const loaded = await editor.request(session.load, { sessionId, cwd: options.workspace, mcpServers: [] });
  summary.loadedMode = loaded.modes.currentModeId;
  summary.replay = picture(editor.updates, sessionId);
  const unknown = { sessionId: "ses_unknown", cwd: options.workspace, mcpServers: [] };
  summary.unknown = await editor.request(session.load, unknown).then(() => 0, (error) => error.code);
  await editor.request(session.setMode, { sessionId, modeId: "ask" });
  summary.goesOn = (await editor.prompt(sessionId, "still there?")).stopReason;
  summary.secondExit = await editor.leave();
}

await second(await first());
console.log(JSON.stringify(summary));
