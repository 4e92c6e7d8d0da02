import { describe, expect, it } from "vitest";

import { Approvals, type HunkReviewer } from "../../src/acp/approvals";
import { Conversations } from "../../src/acp/conversations";
import type { Link } from "../../src/acp/link";
import { restoreSessions, saveSessions } from "../../src/state/saved_sessions";
import { Store } from "../../src/state/store";
import type { CallItem } from "../../src/state/terms";

type Answer = (params: Record<string, unknown>) => unknown;

const NO_HUNKS: HunkReviewer = { begin: () => undefined, conclude: () => [], withdraw: () => undefined };
const text = (words: string) => ({ text: words, blocks: [{ type: "text" as const, text: words }], attachments: [] });

/** An agent played by the test: `on` maps a method to its answer. */
class Scene {
  readonly asked: [method: string, params: Record<string, unknown>][] = [];
  readonly on: Record<string, Answer> = {
    "session/new": () => ({ sessionId: "s", configOptions: [] }),
    "session/load": () => ({ configOptions: [] }),
    "session/prompt": () => ({ stopReason: "end_turn" }),
  };
  isTrusted = true;
  isClosed = false;
  readonly store = new Store();
  readonly approvals = new Approvals(this.store, NO_HUNKS);
  readonly link = this.makeLink();
  connected: () => Promise<Link> = () => Promise.resolve(this.link);
  readonly sessions = new Conversations(
    this.store,
    this.approvals,
    { isTrusted: () => this.isTrusted, folders: () => ({ cwd: "/p", more: ["/q"] }), isOnlyFolder: true },
    () => this.connected(),
  );

  private makeLink(): Link {
    const request = async (method: string, params: Record<string, unknown>) => {
      this.asked.push([method, params]);
      return this.on[method]?.(params) ?? {};
    };
    const closed = () => this.isClosed;
    return {
      agent: { request, notify: request },
      greeting: { agentCapabilities: { sessionCapabilities: { additionalDirectories: {} } } },
      get isClosed() {
        return closed();
      },
      close: () => undefined,
    } as unknown as Link;
  }

  items(): readonly string[] {
    return (this.store.get("s")?.items ?? []).map((item) => `${item.type}:${"text" in item ? item.text : ""}`);
  }
}

describe("conversations", () => {
  it("that are loaded show where each turn ended, how, and what its plan left", async () => {
    const scene = new Scene();
    const say = (update: object) => scene.sessions.takeUpdate({ sessionId: "s", update } as never);
    const end = (turnId: string, reason: string, words = "") =>
      say({ sessionUpdate: "session_info_update", _meta: { hermes: { turnEnded: { turnId, reason, text: words } } } });
    scene.on["session/load"] = () => {
      say({ sessionUpdate: "user_message_chunk", messageId: "u", content: { type: "text", text: "do" } });
      say({ sessionUpdate: "plan", entries: [{ content: "a", status: "pending", priority: "low" }] });
      end("t1", "cancelled");
      end("t2", "failed", "No model.");
      return { configOptions: [] };
    };
    await scene.sessions.open("s", "/p");
    expect(scene.store.get("s")?.items.slice(1)).toEqual([
      { type: "end", id: "t1", reason: "cancelled", text: "", plan: [{ content: "a", status: "pending" }] },
      { type: "end", id: "t2", reason: "failed", text: "No model." },
    ]);
  });

  it.each([true, false])("show the end of a lost turn once, whether its agent is gone too: %s", async (isCutOff) => {
    const scene = new Scene();
    const say = (update: object) => scene.sessions.takeUpdate({ sessionId: "s", update } as never);
    const id = await scene.sessions.begin();
    scene.on["session/prompt"] = () => new Promise(() => undefined);
    void scene.sessions.prompt(id, text("go"));
    await Promise.resolve();
    scene.sessions.lose("The server was ended.");
    const words = "The agent's process ended.";
    const turnEnded = { turnId: "t9", reason: "cancelled", text: words, isCutOff };
    scene.on["session/load"] = () => {
      say({ sessionUpdate: "user_message_chunk", messageId: "u", content: { type: "text", text: "go" } });
      say({ sessionUpdate: "session_info_update", _meta: { hermes: { turnEnded } } });
      say({ sessionUpdate: "notice", severity: "warning", title: words });
      return { configOptions: [] };
    };
    await scene.sessions.adopt(scene.link);
    expect(scene.store.get(id)?.items.slice(1)).toEqual([
      { type: "end", id: "t9", reason: "lost", text: "The server was ended." },
    ]);
  });

  it("say of a turn that failed for want of a model what helps", async () => {
    const scene = new Scene();
    scene.on["session/prompt"] = () => {
      throw Object.assign(new Error("The key was refused."), { code: -32000 });
    };
    const id = await scene.sessions.begin();
    await scene.sessions.prompt(id, text("hi"));
    expect(scene.store.get(id)?.items.at(-1)).toMatchObject({ text: "The key was refused.", needsSetUp: true });
  });

  it("begin in the folder, with those beside it", async () => {
    const scene = new Scene();
    await scene.sessions.begin();
    expect(scene.asked[0]).toEqual(["session/new", { cwd: "/p", additionalDirectories: ["/q"], mcpServers: [] }]);
  });

  it("only plan where nothing is trusted", async () => {
    const scene = new Scene();
    scene.isTrusted = false;
    const mode = (value: string) => ({
      type: "select",
      id: "mode",
      name: "Mode",
      category: "mode",
      currentValue: value,
      options: [
        { value: "ask", name: "Ask" },
        { value: "plan", name: "Plan" },
      ],
    });
    scene.on["session/new"] = () => ({ sessionId: "s", configOptions: [mode("ask")] });
    scene.on["session/set_config_option"] = ({ value }) => ({ configOptions: [mode(String(value))] });
    await scene.sessions.begin();
    expect(scene.store.get("s")?.options[0]).toMatchObject({ value: "plan" });
  });

  it("tell of a turn that fails where it failed", async () => {
    const scene = new Scene();
    await scene.sessions.begin();
    scene.on["session/prompt"] = () => Promise.reject(new Error("the model is away"));
    await scene.sessions.prompt("s", text("hi"));
    expect(scene.items()).toEqual(["user:hi", "end:the model is away"]);
  });

  it("are whole again after the server broke, and say what was lost", async () => {
    const scene = new Scene();
    await scene.sessions.begin();
    scene.on["session/prompt"] = () => {
      scene.isClosed = true;
      return Promise.reject(new Error("connection closed"));
    };
    await scene.sessions.prompt("s", text("hi"));
    scene.sessions.lose("The server broke.");
    scene.isClosed = false;
    scene.on["session/load"] = () => {
      const content = { type: "text" as const, text: "hi" };
      const update = { sessionUpdate: "user_message_chunk" as const, messageId: "m", content };
      expect(scene.sessions.takeUpdate({ sessionId: "s", update })).toBe("replayed");
      return { configOptions: [] };
    };
    await scene.sessions.adopt(scene.link);
    expect(scene.items()).toEqual(["user:hi", "end:The server broke."]);
    expect(scene.store.get("s")?.turns).toEqual([]);
  });

  it("show the plan of a turn that was lost where it was lost, and no plan of a turn long past", async () => {
    const scene = new Scene();
    const entries = [{ content: "Mend", status: "in_progress" as const, priority: "medium" as const }];
    scene.on["session/load"] = () => {
      scene.sessions.takeUpdate({ sessionId: "s", update: { sessionUpdate: "plan", entries } });
      return { configOptions: [] };
    };
    await scene.sessions.begin();
    await scene.sessions.adopt(scene.link);
    expect(scene.store.get("s")?.plan).toEqual([]);
    scene.store.dispatch("s", { type: "begun", id: "t" }, { type: "lost", id: "l", text: "" });
    await scene.sessions.adopt(scene.link);
    expect(scene.store.get("s")?.items.at(-1)).not.toHaveProperty("plan");
    scene.store.dispatch("s", { type: "begun", id: "u" });
    scene.sessions.takeUpdate({ sessionId: "s", update: { sessionUpdate: "plan", entries } });
    scene.sessions.lose("gone");
    await scene.sessions.adopt(scene.link);
    expect(scene.store.get("s")?.items.at(-1)).toMatchObject({ plan: [{ content: "Mend" }] });
  });

  it.each(["a reload", "the server's end"])("tell of the question that %s took away", async (what) => {
    const scene = new Scene();
    scene.on["session/prompt"] = () => new Promise(() => undefined);
    await scene.sessions.begin();
    void scene.sessions.prompt("s", text("go"));
    await Promise.resolve();
    const toolCall = { toolCallId: "c", title: "Edit /p/a" };
    void scene.approvals.ask({ sessionId: "s", toolCall, options: [] } as never, new AbortController().signal);
    if (what === "a reload") {
      const [session] = restoreSessions(saveSessions("s", scene.store.all())).sessions;
      if (session) scene.store.dispatch("s", { type: "replaced", session });
    } else scene.sessions.lose("gone");
    expect(scene.store.get("s")?.items.at(-1)).toMatchObject({ reason: "lost", unanswered: "Edit /p/a" });
    await scene.sessions.adopt(scene.link);
    expect(scene.store.get("s")?.items.at(-1)).toMatchObject({ reason: "lost", unanswered: "Edit /p/a" });
  });

  it("go on with a turn that the next server continues, and say nothing of a loss", async () => {
    const scene = new Scene();
    const tell = (update: object) => scene.sessions.takeUpdate({ sessionId: "s", update } as never);
    const said = (kind: string, messageId: string, words: string) =>
      tell({ sessionUpdate: kind, messageId, content: { type: "text", text: words } });
    scene.on["session/prompt"] = () => new Promise(() => undefined);
    await scene.sessions.begin();
    void scene.sessions.prompt("s", text("go"));
    await Promise.resolve();
    said("agent_message_chunk", "a", "Half of it. ");
    scene.sessions.lose("The resident process has ended.");
    scene.on["session/load"] = () => {
      said("user_message_chunk", "m", "go");
      said("agent_message_chunk", "a", "Half of it. ");
      tell({ sessionUpdate: "session_info_update", _meta: { hermes: { turnBegan: { turnId: "t" } } } });
      return { configOptions: [] };
    };
    await scene.sessions.adopt(scene.link);
    said("agent_message_chunk", "b", "The rest.");
    const turnEnded = { turnId: "t", reason: "end_turn", text: "" };
    expect(scene.store.get("s")?.turns).toEqual(["t"]);
    tell({ sessionUpdate: "session_info_update", _meta: { hermes: { turnEnded } } });
    expect(scene.items()).toEqual(["user:go", "agent:Half of it. ", "agent:The rest.", "end:"]);
    expect(scene.store.get("s")?.turns).toEqual([]);
  });

  it("tell of no lost turn where the agent asks its question again", async () => {
    const scene = new Scene();
    const tell = (hermes: object) =>
      scene.sessions.takeUpdate({
        sessionId: "s",
        update: { sessionUpdate: "session_info_update", _meta: { hermes } },
      } as never);
    scene.on["session/prompt"] = () => new Promise(() => undefined);
    await scene.sessions.begin();
    void scene.sessions.prompt("s", text("go"));
    await Promise.resolve();
    scene.sessions.lose("gone");
    const turnEnded = { turnId: "t9", reason: "end_turn", text: "The turn waits.", isCutOff: true, isWaiting: true };
    scene.on["session/load"] = () => {
      tell({ turnEnded });
      return { configOptions: [] };
    };
    await scene.sessions.adopt(scene.link);
    tell({ turnBegan: { turnId: "t10" } });
    expect(scene.store.get("s")?.items).toMatchObject([{ type: "end", id: "t9", reason: "waiting" }]);
    expect(scene.store.get("s")?.turns).toEqual(["t10"]);
  });

  it("show of an edit what the agent changed and what was judged, when they are loaded again", async () => {
    const scene = new Scene();
    const diff = (newText: string) => ({ type: "diff" as const, path: "/p/a", oldText: "1\n", newText });
    const card = { sessionUpdate: "tool_call", toolCallId: "c", title: "Edit", kind: "edit", status: "completed" };
    const options = [{ optionId: "y", name: "Allow once", kind: "allow_once" }];
    await scene.sessions.begin();
    const toolCall = { toolCallId: "c", content: [diff("2\n")] };
    void scene.approvals.ask({ sessionId: "s", toolCall, options } as never, new AbortController().signal);
    scene.store.dispatch("s", { type: "judged", callId: "c", path: "/p/a", verdicts: ["accepted"] });
    const item = () => scene.store.get("s")?.items[0];
    const { requestId } = (item() as CallItem).approval ?? { requestId: "" };
    scene.approvals.answer(requestId, "y");
    // What was written has a line of the user's own.
    const told = { ...card, content: [diff("2\nmine\n")] };
    scene.sessions.takeUpdate({ sessionId: "s", update: { ...told, sessionUpdate: "tool_call_update" } as never });
    const wanted = {
      content: [{ diff: { newText: "2\n" } }],
      verdicts: { "/p/a": ["accepted"] },
      approval: { answer: "y" },
    };
    expect(item()).toMatchObject(wanted);
    scene.on["session/load"] = () => {
      scene.sessions.takeUpdate({ sessionId: "s", update: told as never });
      return { configOptions: [] };
    };
    await scene.sessions.adopt(scene.link);
    expect(item()).toMatchObject(wanted);
  });

  it("add nothing to a session before it is loaded again", async () => {
    const scene = new Scene();
    await scene.sessions.begin();
    scene.connected = async () => {
      await scene.sessions.adopt(scene.link);
      return scene.link;
    };
    await scene.sessions.prompt("s", text("go on"));
    expect(scene.items()).toEqual(["user:go on", "end:"]);
  });

  it("show what a child agent does where it works for, and the end of what was asked about there", async () => {
    const scene = new Scene();
    await scene.sessions.begin();
    const take = (sessionId: string, update: object) =>
      scene.sessions.takeUpdate({ sessionId, update } as Parameters<Conversations["takeUpdate"]>[0]);
    take("s", { sessionUpdate: "subagent_update", sessionId: "k", title: "Look", state: { state: "running" } });
    take("k", { sessionUpdate: "tool_call", toolCallId: "c", title: "Run", kind: "execute", status: "pending" });
    scene.store.dispatch("s", { type: "asked", call: { id: "c", title: "Run" }, requestId: "r", options: [] });
    take("k", { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed" });
    take("k", { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Found." } });
    take("s", { sessionUpdate: "subagent_update", sessionId: "k", state: { state: "idle", stopReason: "end_turn" } });
    const [child, card] = scene.store.get("s")?.items ?? [];
    expect(child).toMatchObject({ type: "child", title: "Look", state: "done", text: "Found." });
    expect(card).toMatchObject({ type: "call", id: "c", status: "completed" });
  });

  it("go on from before a prompt in a session that knows where it came from", async () => {
    const scene = new Scene();
    scene.on["session/fork"] = () => ({ sessionId: "f" });
    scene.store.open("s", "/p");
    scene.store.dispatch("s", { type: "forked", sources: ["r"] });
    await scene.sessions.fork("s", "/p", { messageId: "m", undos: [{ sessionId: "s", id: "u" }] });
    const [, params] = scene.asked.find(([method]) => method === "session/fork") ?? [];
    expect(params?.["_meta"]).toEqual({ hermes: { beforeMessage: "m" } });
    expect(scene.store.get("f")).toMatchObject({
      sources: ["r", "s"],
      rewound: { from: "s", undos: [{ sessionId: "s", id: "u" }] },
    });
  });

  it("keep queued messages and the times of calls when they are loaded again", async () => {
    const scene = new Scene();
    const card = { sessionUpdate: "tool_call", toolCallId: "c", title: "Run", status: "completed" };
    scene.on["session/load"] = () => {
      scene.sessions.takeUpdate({ sessionId: "s", update: card } as never);
      return { configOptions: [] };
    };
    scene.store.open("s", "/p");
    const news = (at: number, status: "in_progress" | "completed") => ({ id: "c", status, at });
    scene.store.dispatch(
      "s",
      { type: "call", call: news(1000, "in_progress") },
      { type: "call", call: news(4000, "completed") },
      { type: "queued", prompt: { id: "q", text: "next", mentions: [], pictures: [] } },
    );
    await scene.sessions.adopt(scene.link);
    expect(scene.store.get("s")).toMatchObject({
      queue: [{ text: "next" }],
      items: [{ id: "c", clock: { beganAt: 1000, tookMs: 3000 } }],
    });
  });

  it("search what was said in the folder", async () => {
    const scene = new Scene();
    await scene.sessions.search("walrus");
    expect(scene.asked).toEqual([["_hermes/sessions/search", { query: "walrus", cwd: "/p", limit: 30 }]]);
  });

  it("say nothing when there is no agent to have", async () => {
    const scene = new Scene();
    await scene.sessions.begin();
    scene.connected = () => Promise.reject(new Error("not installed"));
    await expect(scene.sessions.prompt("s", text("hi"))).rejects.toThrow("not installed");
    expect(scene.items()).toEqual([]);
  });
});

describe("approvals", () => {
  const request = {
    sessionId: "s",
    toolCall: { toolCallId: "c", content: [{ type: "diff" as const, path: "/p/a", oldText: "1", newText: "2" }] },
    options: [
      { optionId: "yes", name: "Yes", kind: "allow_once" as const },
      { optionId: "no", name: "No", kind: "reject_once" as const },
    ],
  };
  const outcome = { path: "/p/a", newText: "3", rejected: ["1 line"], isOther: true };

  const requestOf = (store: Store, sessionId = "s") => {
    const item = store.get(sessionId)?.items[0];
    return (item?.type === "call" && item.approval?.requestId) || "";
  };

  it("are answered by their own buttons alone, also where two sessions use one call id", async () => {
    const store = new Store();
    store.open("s", "/p");
    store.open("other", "/p");
    const approvals = new Approvals(store, NO_HUNKS);
    const control = new AbortController();
    const first = approvals.ask(request, control.signal);
    const second = approvals.ask({ ...request, sessionId: "other" }, control.signal);
    approvals.answer(requestOf(store, "other"), "yes");
    expect(await second).toEqual({ outcome: { outcome: "selected", optionId: "yes" } });
    expect(store.get("s")?.items[0]).not.toMatchObject({ approval: { answer: expect.anything() } });
    control.abort();
    expect(await first).toEqual({ outcome: { outcome: "cancelled" } });
  });

  it("are not answered with yes before the end of a long command was seen", async () => {
    const store = new Store();
    store.open("s", "/p");
    const approvals = new Approvals(store, NO_HUNKS);
    const command = `echo start\n${"\n".repeat(40)}rm -rf src`;
    const long = { ...request, toolCall: { toolCallId: "c", kind: "execute" as const, rawInput: { command } } };
    const answer = approvals.ask(long, new AbortController().signal);
    const requestId = requestOf(store);
    approvals.answer(requestId, "yes");
    expect(approvals.canAllow(requestId)).toBe(false);
    expect(store.get("s")?.items[0]).not.toMatchObject({ approval: { answer: expect.anything() } });
    approvals.noteSeen(requestId);
    approvals.answer(requestId, "yes");
    expect(await answer).toEqual({ outcome: { outcome: "selected", optionId: "yes" } });
  });

  it("carry the part that was taken, and the words that go with it", async () => {
    const store = new Store();
    store.open("s", "/p");
    const approvals = new Approvals(store, { ...NO_HUNKS, conclude: () => [outcome] });
    approvals.takesParts = true;
    const answer = approvals.ask(request, new AbortController().signal);
    approvals.answer(requestOf(store), "yes", "thanks");
    expect(await answer).toEqual({
      outcome: { outcome: "selected", optionId: "yes" },
      _meta: { hermes: { edits: [{ path: "/p/a", newText: "3", rejected: ["1 line"] }], comment: "thanks" } },
    });
  });

  it("send nothing of their own to an agent that takes no parts", async () => {
    const store = new Store();
    store.open("s", "/p");
    const approvals = new Approvals(store, { ...NO_HUNKS, conclude: () => [outcome] });
    const answer = approvals.ask(request, new AbortController().signal);
    approvals.answer(requestOf(store), "yes");
    expect(await answer).toEqual({ outcome: { outcome: "selected", optionId: "yes" } });
  });

  it("are taken back when nobody waits any more", async () => {
    const store = new Store();
    store.open("s", "/p");
    const approvals = new Approvals(store, NO_HUNKS);
    const control = new AbortController();
    const answer = approvals.ask(request, control.signal);
    control.abort();
    expect(await answer).toEqual({ outcome: { outcome: "cancelled" } });
    expect(store.get("s")?.items[0]).toMatchObject({ approval: { answer: "" } });
  });
});

describe("a request for permission", () => {
  const ask = (scene: Scene, meta: object) =>
    void scene.approvals.ask(
      {
        sessionId: "s",
        toolCall: {
          toolCallId: "c",
          title: "Run rm",
          content: [{ type: "content", content: { type: "text", text: "Asked because it deletes files: a." } }],
          _meta: { hermes: meta },
        },
        options: [{ optionId: "y", name: "Allow once", kind: "allow_once" }],
      } as never,
      new AbortController().signal,
    );

  it("shows its reason once, with what it warns of", async () => {
    const scene = new Scene();
    await scene.sessions.begin();
    ask(scene, { reason: "Asked because it deletes files: a.", isWarning: true });
    expect(scene.store.get("s")?.items.at(-1)).toMatchObject({
      content: [],
      approval: { reason: "Asked because it deletes files: a.", isWarning: true },
    });
  });
});

describe("a turn that failed", () => {
  const refuse = (code: string) => Object.assign(new Error("The key was refused."), { code: -32603, data: { code } });

  it("is to be tried again where the endpoint refused it", async () => {
    for (const [code, isToRetry] of [
      ["model_auth_failed", true],
      ["quota_used_up", true],
      ["bad_reply", false],
    ] as const) {
      const scene = new Scene();
      await scene.sessions.begin();
      scene.on["session/prompt"] = () => {
        throw refuse(code);
      };
      await scene.sessions.prompt("s", text("go"));
      const end = scene.store.get("s")?.items.find((item) => item.type === "end");
      expect(end?.type === "end" && end.isToRetry === true).toBe(isToRetry);
    }
  });
});
