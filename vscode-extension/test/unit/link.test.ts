import type * as acp from "@agentclientprotocol/sdk/unstable";
import { describe, expect, it } from "vitest";

import { Approvals } from "../../src/acp/approvals";
import { Conversations } from "../../src/acp/conversations";
import { connect, type EditorAnswerers } from "../../src/acp/link";
import { Store } from "../../src/state/store";

const COMMANDS = {
  sessionUpdate: "available_commands_update",
  availableCommands: [{ name: "status", description: "How it stands" }],
};
const NO_HUNKS = { begin: () => undefined, conclude: () => [], withdraw: () => undefined };

/** An agent at the other end of real streams; `on` returns the frames that answer a request, written in one piece. */
class Agent {
  private readonly toEditor = new TransformStream<Uint8Array, Uint8Array>();
  private readonly toAgent = new TransformStream<Uint8Array, Uint8Array>();
  private readonly writer = this.toEditor.writable.getWriter();
  readonly input = this.toAgent.writable;
  readonly output = this.toEditor.readable;

  constructor(
    private readonly on: Readonly<Record<string, (answer: object) => readonly object[]>>,
    private readonly onRefusal: (refusal: object) => void = () => undefined,
  ) {
    void this.serve();
  }

  private async serve(): Promise<void> {
    for await (const piece of this.toAgent.readable) {
      const frame = JSON.parse(new TextDecoder().decode(piece)) as { id: number; method: string; error?: object };
      if (frame.error) this.onRefusal(frame);
      if (!frame.method) continue;
      const { id, method } = frame;
      const result = method === "initialize" ? { protocolVersion: 1, agentCapabilities: {} } : { sessionId: "s" };
      const answer = { id, result };
      const frames = this.on[method]?.(answer) ?? [answer];
      const lines = frames.map((frame) => `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
      await this.writer.write(new TextEncoder().encode(lines.join("")));
    }
  }
}

async function sessionsWith(
  agent: Agent,
  trace?: () => void,
  own: Partial<EditorAnswerers> = {},
): Promise<{ store: Store; sessions: Conversations }> {
  const store = new Store();
  let heard = (_: acp.SessionNotification): void => undefined;
  const answerers = { terminals: {}, onUpdate: (update: acp.SessionNotification) => heard(update), ...own };
  const link = await connect(
    agent.input,
    agent.output,
    answerers as unknown as EditorAnswerers,
    { isTrusted: true },
    "1.0.0",
    trace,
  );
  const workspace = { isTrusted: () => true, folders: () => ({ cwd: "/p", more: [] }), isOnlyFolder: true };
  const sessions = new Conversations(store, new Approvals(store, NO_HUNKS), workspace, () => Promise.resolve(link));
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

describe("what an editor cannot do for an agent", () => {
  it("is told in words that the agent can show", async () => {
    const refusals: unknown[] = [];
    const asked = { id: "w", method: "fs/write_text_file", params: { sessionId: "s", path: "/p/a", content: "x" } };
    const agent = new Agent({ initialize: (answer) => [answer, asked] }, (refusal) => refusals.push(refusal));
    const why = "The workspace is not trusted; nothing is written in it.";
    await sessionsWith(agent, undefined, { writeFile: () => Promise.reject(new Error(why)) });
    await settled();
    expect(refusals).toMatchObject([{ id: "w", error: { message: why } }]);
  });
});
