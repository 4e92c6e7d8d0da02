import type * as acp from "@agentclientprotocol/sdk/unstable";
import { describe, expect, it } from "vitest";

import { Approvals } from "../../src/acp/approvals";
import { Conversations } from "../../src/acp/conversations";
import { connect, type Answerers } from "../../src/acp/link";
import { Store } from "../../src/state/store";

const COMMANDS = {
  sessionUpdate: "available_commands_update",
  availableCommands: [{ name: "status", description: "How it stands" }],
};
const NO_HUNKS = { begin: () => undefined, conclude: () => [], withdraw: () => undefined };

/** An agent at the other end of real streams; `on` gives the frames that answer a request, all written in one piece. */
class Agent {
  private readonly toEditor = new TransformStream<Uint8Array, Uint8Array>();
  private readonly toAgent = new TransformStream<Uint8Array, Uint8Array>();
  private readonly writer = this.toEditor.writable.getWriter();
  readonly input = this.toAgent.writable;
  readonly output = this.toEditor.readable;

  constructor(private readonly on: Readonly<Record<string, (answer: object) => readonly object[]>>) {
    void this.serve();
  }

  private async serve(): Promise<void> {
    for await (const piece of this.toAgent.readable) {
      const { id, method } = JSON.parse(new TextDecoder().decode(piece)) as { id: number; method: string };
      const result = method === "initialize" ? { protocolVersion: 1, agentCapabilities: {} } : { sessionId: "s" };
      const answer = { id, result };
      const frames = this.on[method]?.(answer) ?? [answer];
      const lines = frames.map((frame) => `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
      await this.writer.write(new TextEncoder().encode(lines.join("")));
    }
  }
}

async function sessionsWith(agent: Agent, trace?: () => void): Promise<{ store: Store; sessions: Conversations }> {
  const store = new Store();
  let heard = (_: acp.SessionNotification): void => undefined;
  const answerers = { terminals: {}, onUpdate: (update: acp.SessionNotification) => heard(update) };
  const link = await connect(
    agent.input,
    agent.output,
    answerers as unknown as Answerers,
    { isTrusted: true },
    "1.0.0",
    trace,
  );
  const ground = { isTrusted: () => true, folders: () => ({ cwd: "/p", more: [] }) };
  const sessions = new Conversations(store, new Approvals(store, NO_HUNKS), ground, () => Promise.resolve(link));
  heard = (update) => void sessions.takeUpdate(update);
  return { store, sessions };
}

const commandsOf = (store: Store) => store.get("s")?.commands.map(({ name }) => name);
const update = { method: "session/update", params: { sessionId: "s", update: COMMANDS } };
/** Wait until everything that was written is read. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("a session's commands, in one piece with the answer that opens it", () => {
  for (const trace of [undefined, () => undefined]) {
    const how = trace ? ", traced" : "";
    it(`are there when it is new${how}`, async () => {
      const agent = new Agent({ "session/new": (answer) => [answer, update] });
      const { store, sessions } = await sessionsWith(agent, trace);
      await sessions.begin();
      await settled();
      expect(commandsOf(store)).toEqual(["status"]);
    });

    for (const order of ["before", "behind"]) {
      it(`are there when it is loaded, told ${order} the answer${how}`, async () => {
        const agent = new Agent({
          "session/load": (answer) => (order === "behind" ? [answer, update] : [update, answer]),
        });
        const { store, sessions } = await sessionsWith(agent, trace);
        await sessions.open("s", "/p");
        await settled();
        expect(commandsOf(store)).toEqual(["status"]);
      });
    }
  }
});
