// The official TypeScript SDK (npm @agentclientprotocol/sdk); run from the folder where it is installed.
//
// Usage: node typescript_sdk.mjs each|burst|in COUNT; see __init__.py in this folder.

import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const installed = createRequire(`${process.cwd()}/`).resolve("@agentclientprotocol/sdk");
const acp = await import(pathToFileURL(installed));

const BURST = 1000;
const [mode, count] = [process.argv[2], Number(process.argv[3])];
const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
let characters = 0;

function sendOne(client, number) {
  return client.notify(acp.methods.client.session.update, {
    sessionId: "session-1",
    update: {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: `chunk ${number} of a steady answer. ` },
      messageId: "message-1",
    },
  });
}

async function send(client) {
  let written = [];
  for (let number = 0; number < count; number++) {
    const one = sendOne(client, number);
    if (mode === "each") {
      await one;
    } else if (written.push(one) === BURST) {
      await Promise.all(written);
      written = [];
    }
  }
  await Promise.all(written);
  await new Promise((resolve) => process.stdout.write("", resolve)); // the last bytes are in the pipe now
}

function listen() {
  return new Promise((resolve) => {
    let seen = 0;
    acp
      .client({ name: "bench" })
      .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
        if (update.sessionUpdate === "agent_message_chunk") {
          seen += 1;
          characters += update.content.text.length;
        }
        if (seen === count) resolve();
      })
      .connect(stream);
  });
}

const startedAt = performance.now();
const before = process.cpuUsage();
await (mode === "in" ? listen() : send(acp.agent({ name: "bench" }).connect(stream).client));
const used = process.cpuUsage(before);
const report = { cpu_s: (used.user + used.system) / 1e6, wall_s: (performance.now() - startedAt) / 1e3, characters };
process.stderr.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
