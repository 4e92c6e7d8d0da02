// A client based on the official TypeScript SDK that attaches to an open session and answers nothing: it prints the updates it gets,
// one line of JSON each, until its input ends.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk";

const { command, sessionId, cwd } = JSON.parse(process.argv[2]);
const print = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

const agent = spawn(command, [], { cwd, stdio: ["pipe", "pipe", "inherit"] });
const { client } = acp.methods;
const connection = acp
  .client({ name: "typescript" })
  .onNotification(client.session.update, ({ params }) => print(params.update))
  .onRequest(client.session.requestPermission, ({ params, signal }) => {
    print({ asked: params.toolCall.toolCallId });
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("withdrawn"))));
  })
  .connect(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)));
await connection.agent.request(acp.methods.agent.initialize, {
  protocolVersion: acp.PROTOCOL_VERSION,
  clientInfo: { name: "typescript", version: "1" },
});
await connection.agent.request(acp.methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
print({ attached: true });
process.stdin.on("end", () => agent.stdin.end()).resume();
