import { describe, expect, it } from "vitest";

import { toCallNews, toEvents, toFields, toOptions } from "../../src/acp/translate";

describe("updates of the wire", () => {
  it("become words, by who says them", () => {
    const content = { type: "text" as const, text: "hi" };
    expect(toEvents({ sessionUpdate: "agent_thought_chunk", messageId: "m", content })).toEqual([
      { type: "said", who: "thought", id: "m", text: "hi" },
    ]);
  });

  it("become attachments of the prompt they came with", () => {
    const content = { type: "resource_link" as const, uri: "file:///p/a.py", name: "a.py" };
    expect(toEvents({ sessionUpdate: "user_message_chunk", messageId: "m", content }).at(-1)).toEqual({
      type: "attached",
      id: "m",
      attachment: { kind: "file", label: "a.py", uri: "file:///p/a.py" },
    });
  });

  it("tell of turns and answers of other clients", () => {
    const info = (hermes: object) => toEvents({ sessionUpdate: "session_info_update", _meta: { hermes } });
    expect(info({ turnBegan: { turnId: "t" } })).toEqual([{ type: "begun", id: "t" }]);
    expect(info({ turnEnded: { turnId: "t", reason: "end_turn", text: "" } })).toEqual([
      { type: "ended", id: "t", reason: "end_turn", text: "" },
    ]);
    const _meta = { hermes: { answeredBy: "VS Code", answer: "reject_once" } };
    expect(toCallNews({ toolCallId: "c", _meta }).elsewhere).toEqual({ by: "VS Code", isYes: false });
  });

  it("leave out of a card what they do not say", () => {
    expect(toCallNews({ toolCallId: "c", status: "in_progress" })).toEqual({ id: "c", status: "in_progress" });
  });

  it("know a new file, a line, an exit code and a kind of tomorrow", () => {
    const news = toCallNews({
      toolCallId: "c",
      kind: "teleport" as never,
      content: [{ type: "diff", path: "/p/a", newText: "x" }],
      locations: [{ path: "/p/a", line: 3 }, { path: "/p/b" }],
      rawOutput: { exit_code: 2 },
    });
    expect(news).toEqual({
      id: "c",
      kind: "other",
      content: [{ type: "diff", diff: { path: "/p/a", oldText: null, newText: "x" } }],
      places: [{ path: "/p/a", line: 3 }, { path: "/p/b" }],
      exitCode: 2,
    });
  });

  it("keep a user's no with their word, and drop one of another shape", () => {
    const newsOf = (rejected: unknown) => toCallNews({ toolCallId: "c", _meta: { hermes: { rejected } } }).rejected;
    expect(newsOf({ comment: "lower case only" })).toBe("lower case only");
    expect(newsOf({})).toBe("");
    expect(newsOf(null)).toBeUndefined();
    expect(toCallNews({ toolCallId: "c", _meta: { hermes: null } }).rejected).toBeUndefined();
  });

  it("know the whole command, and why one did not end by itself", () => {
    const text = "one\ntwo\n[timed out after 30 s; the command and everything it started were ended]";
    const news = toCallNews({ toolCallId: "c", rawInput: { command: "make\nmake test" }, rawOutput: { text } });
    expect(news).toEqual({
      id: "c",
      command: "make\nmake test",
      isShell: true,
      ending: "Timed out after 30 s; the command and everything it started were ended.",
      output: "one\ntwo",
    });
    expect(toCallNews({ toolCallId: "c", rawOutput: { text: "[exit code 3]", exit_code: 3 } })).toEqual({
      id: "c",
      exitCode: 3,
      output: "",
    });
  });

  it("take for a command of a shell only what is one", () => {
    const _meta = { hermes: { approvalText: "MCP server db: npx db" } };
    const trust = toCallNews({ toolCallId: "c", kind: "execute", rawInput: { folder: "/p" }, _meta });
    expect([trust.command, trust.isShell]).toEqual(["MCP server db: npx db", undefined]);
  });

  it("tell where a turn of the past ended", () => {
    const endOf = (turnEnded: unknown) =>
      toEvents({ sessionUpdate: "session_info_update", _meta: { hermes: { turnEnded } } });
    expect(endOf({ turnId: "t", reason: "cancelled", text: "" })).toEqual([
      { type: "ended", id: "t", reason: "cancelled", text: "" },
    ]);
    expect(endOf({ turnId: 3, reason: "cancelled" })).toEqual([]);
    expect(toEvents({ sessionUpdate: "session_info_update", title: "A" })).toEqual([{ type: "title", title: "A" }]);
  });

  it("say nothing of what is not known", () => {
    expect(toEvents({ sessionUpdate: "of_tomorrow" } as never)).toEqual([]);
  });
});

describe("options and forms", () => {
  it("are pickers with all choices, grouped or not, and switches", () => {
    const choice = (value: string) => ({ value, name: value.toUpperCase() });
    const options = toOptions([
      {
        type: "select",
        id: "model",
        name: "Model",
        category: "model",
        currentValue: "a",
        options: [{ group: "g", name: "G", options: [choice("a"), choice("b")] }],
      },
      { type: "boolean", id: "show", name: "Show", currentValue: true },
    ] as never);
    expect(options).toMatchObject([
      { type: "select", value: "a", choices: [{ value: "a" }, { value: "b" }] },
      { type: "switch", isOn: true },
    ]);
  });

  it("have a field for each property", () => {
    const fields = toFields({
      properties: {
        name: { type: "string", title: "Name" },
        sure: { type: "boolean" },
        size: { type: "string", enum: ["s", "l"] },
      },
      required: ["name"],
    } as never);
    expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ["name", "text", true],
      ["sure", "boolean", false],
      ["size", "choice", false],
    ]);
  });
});
