import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { redact } from "../../src/acp/redact";
import { Memory } from "../../src/state/memory";
import { emptySession } from "../../src/state/session";
import { saveSessions, restoreSessions } from "../../src/state/saved_sessions";
import { handedOver, withDraft } from "../../src/webview/drafts";
import { extrasFrom, handOver, mentionsIn, NOTHING } from "../../src/webview/extras";
import { trustItem } from "../../src/messages/pages";
import { optionsFor, wordBefore } from "../../src/webview/menu";
import { whenOf } from "../../src/webview/past_times";
import { readable, shortened, split } from "../../src/webview/paths";
import { Heights, inSight } from "../../src/webview/sight";
import { terminalPieces } from "../../src/webview/terminal_text";

describe("the trace", () => {
  it("hides secrets by name and by shape, in texts too", () => {
    const shown = JSON.stringify(
      redact({
        apiKey: "abc",
        env: [{ name: "ANY", value: "private" }],
        text: "use sk-abcdefghijklmnop1234 and Bearer abcdefgh12345678",
        data: "x".repeat(5000),
      }),
    );
    for (const secret of ['abc"', "private", "sk-abcdefghijklmnop1234", "abcdefgh12345678", "xxxx"])
      expect(shown).not.toContain(secret);
    expect(shown).toContain("[5000 characters]");
  });

  it("cuts what is long and leaves the rest alone", () => {
    expect(redact({ method: "session/prompt", id: 3, ok: true, none: null })).toEqual({
      method: "session/prompt",
      id: 3,
      ok: true,
      none: null,
    });
    expect(String(redact("y".repeat(1000)))).toContain("(1000 characters)");
  });
});

describe("what outlives a reload", () => {
  it("is on the disk the moment it is kept", () => {
    const path = join(mkdtempSync(join(tmpdir(), "memory-")), "deep", "state.json");
    new Memory(path).set("a", { b: 1 });
    const later = new Memory(path);
    expect(later.get("a")).toEqual({ b: 1 });
    later.set("a", undefined);
    expect(new Memory(path).get("a")).toBeUndefined();
  });

  it("says of a turn that ran that it is over", () => {
    const running = { ...emptySession("s", "/p"), turns: ["t"] };
    const [session] = restoreSessions(structuredClone(saveSessions("s", [running]))).sessions;
    expect(session?.turns).toEqual([]);
    expect(session?.items.at(-1)).toMatchObject({ type: "end", reason: "lost" });
  });
});

describe("paths in titles", () => {
  const roots = ["/home/me/first", "/home/me/second"];

  it("are said from the folders that are open", () => {
    expect(shortened("/home/me/first/a.py", ["/home/me/first"])).toBe("a.py");
    expect(shortened("/home/me/second/b.py", roots)).toBe("second/b.py");
    expect(shortened("/home/me/second", roots)).toBe("second");
    expect(shortened("/etc/hosts", roots)).toBe("/etc/hosts");
    expect(readable({ title: "Create /home/me/second/b.py (new)", kind: "edit" }, roots)).toBe(
      "Create second/b.py (new)",
    );
    expect(readable({ title: "Search '/home/me/first/x' a/b", kind: "search" }, roots)).toBe("Search 'first/x' a/b");
  });

  it("are shortened in what tools of others are called, whatever stands in the folders' names", () => {
    const roots = ["/home/me/my work (old)"];
    const title = "look_up: /home/me/my work (old)/src/a b.py, /home/me/my work (old)";
    expect(readable({ title, kind: "other" }, roots)).toBe("look_up: src/a b.py, my work (old)");
  });

  it("are those of the innermost folder, and no beginning of another's name", () => {
    const roots = ["/p", "/p/inner", "/"];
    expect(readable({ title: "Read /p/inner/a.py", kind: "read" }, roots)).toBe("Read inner/a.py");
    expect(readable({ title: "Read /p/innermost/a.py", kind: "read" }, roots)).toBe("Read p/innermost/a.py");
    expect(readable({ title: "Read /px/a.py", kind: "read" }, roots)).toBe("Read /px/a.py");
    expect(shortened("/p/inner/a.py", roots)).toBe("inner/a.py");
  });

  it("are cut into the file's name and its folder", () => {
    expect(split("src/deep/a.py")).toEqual({ name: "a.py", folder: "src/deep" });
    expect(split("a.py")).toEqual({ name: "a.py", folder: "" });
    expect(split("/a.py")).toEqual({ name: "/a.py", folder: "" });
    expect(split("src/deep/")).toEqual({ name: "deep/", folder: "src" });
  });

  it("stay as they are in a command", () => {
    const title = "Run cat /home/me/second/b.py";
    expect(readable({ title, kind: "execute" }, roots)).toBe(title);
  });
});

describe("the list", () => {
  it("sums heights as they are known, whatever becomes known later", () => {
    const heights = new Heights();
    const key = (at: number) => `row ${at}`;
    heights.follow(100, key);
    for (let at = 0; at < 50; at += 1) heights.note(key(at), 10);
    expect(heights.sum(0, 50)).toBe(500);
    expect(heights.sum(0, 100)).toBe(1000);
    heights.note(key(10), 60);
    expect(heights.sum(0, 50)).toBe(550);
    expect(heights.sum(11, 50)).toBe(390);
    heights.note(key(10), 10);
    heights.note(key(70), 10);
    expect(heights.sum(0, 100)).toBe(1000);
    heights.follow(3, (at) => `other ${at}`);
    expect(heights.sum(0, 3)).toBe(3 * heights.of(0));
    heights.follow(2, (at) => key(at + 9));
    expect(heights.sum(0, 2)).toBe(20);
  });

  const keyOf = (at: number) => `k${at}`;
  const TOP = { at: 0, offset: 0 };
  const heights = new Heights();
  heights.follow(1000, keyOf);
  for (let at = 0; at < 1000; at += 1) heights.note(keyOf(at), 50);

  it("draws what is in sight and keeps the room of the rest", () => {
    const sight = inSight(heights, { anchor: heights.anchorAt(20_000), height: 500, isAtEnd: false });
    expect(sight.end - sight.first).toBeLessThan(60);
    expect(sight.first * 50).toBe(sight.before);
    expect(sight.before + (sight.end - sight.first) * 50 + sight.after).toBe(50_000);
    expect(sight.before).toBeLessThan(20_000);
    expect(50_000 - sight.after).toBeGreaterThan(20_500);
  });

  it("knows which row is at a place, and how far it begins above it", () => {
    expect(heights.anchorAt(0)).toEqual({ at: 0, offset: 0 });
    expect(heights.anchorAt(130)).toEqual({ at: 2, offset: -30 });
    expect(heights.anchorAt(90_000).at).toBe(999);
  });

  it("draws around the row in sight, whatever the rows above it turn out to be", () => {
    const own = new Heights();
    own.follow(1000, (at) => String(at));
    const pane = { anchor: { at: 500, offset: -20 }, height: 500, isAtEnd: false };
    const before = inSight(own, pane);
    for (let at = 470; at < 500; at += 1) own.note(String(at), 900);
    const after = inSight(own, pane);
    expect(before.first).toBeLessThan(500);
    expect([after.first < 500, after.end > 500]).toEqual([true, true]);
    expect(after.before).toBe(own.sum(0, after.first));
  });

  it("draws the end while it stays there", () => {
    const sight = inSight(heights, { anchor: TOP, height: 500, isAtEnd: true });
    expect(sight).toEqual({ first: 986, end: 1000, before: 986 * 50, after: 0 });
    const none = { first: 0, end: 0, before: 0, after: 0 };
    expect(inSight(new Heights(), { anchor: TOP, height: 500, isAtEnd: true })).toEqual(none);
  });

  it("asks for new keys only, learns a list that became another one, and takes unseen rows for usual ones", () => {
    const asked: number[] = [];
    const own = new Heights();
    const tell = (prefix: string) => (at: number) => {
      asked.push(at);
      return `${prefix}${at}`;
    };
    own.follow(100, tell("a"));
    asked.length = 0;
    own.follow(102, tell("a"));
    expect(asked).toEqual([0, 99, 100, 101]);
    own.note("a0", 30);
    own.note("a0", 40);
    own.note("a1", 20);
    expect([own.of(0), own.of(1), own.of(2)]).toEqual([40, 20, 30]);
    own.follow(3, tell("b"));
    expect([own.count, own.keyAt(2)]).toEqual([3, "b2"]);
  });
});

describe("the menu", () => {
  it("knows the word the caret stands in", () => {
    expect(wordBefore("look at @src/a", 14)).toEqual({ sign: "@", text: "src/a", start: 8, end: 14 });
    expect(wordBefore("/sta", 4)).toMatchObject({ sign: "/", text: "sta" });
    expect(wordBefore("no /command here", 11)).toBeUndefined();
    expect(wordBefore("me@example.org", 14)).toBeUndefined();
  });

  it("offers commands with their hints", () => {
    const commands = [
      { name: "compact", description: "Sum up", hint: "what to keep" },
      { name: "status", description: "Show", hint: "" },
    ];
    expect(optionsFor(wordBefore("/c", 2), { query: "", mentions: [] }, commands)).toMatchObject([
      { insert: "/compact", label: "/compact", hint: "what to keep", detail: "Sum up" },
    ]);
  });

  it("names files by their names, and the folders they are in", () => {
    const mentions = [
      { kind: "file", token: "src/deep/a.py", label: "a.py", detail: "src/deep/a.py" },
      { kind: "folder", token: "src/deep/", label: "deep", detail: "src/deep" },
      { kind: "changes", token: "changes", label: "Git changes", detail: "uncommitted changes" },
    ] as const;
    const options = optionsFor(wordBefore("@", 1), { query: "", mentions }, []);
    expect(options.map(({ label, detail }) => `${label}: ${detail}`)).toEqual([
      "a.py: src/deep",
      "deep: src",
      "Git changes: uncommitted changes",
    ]);
  });
});

describe("small texts", () => {
  it("names what a folder contains by its kind", () => {
    expect(trustItem("mcp_server", "theirs")).toBe("MCP server theirs");
    expect(trustItem("rules", "rules")).toBe("Rules");
    expect(trustItem("new_kind", "x")).toBe("New kind x");
  });

  it("shows a command's output as lines", () => {
    const pieces = terminalPieces("\u001b[31mred\u001b[0m\r\n10%\r50%\r100%\n\u001b]0;title\u0007end");
    expect(pieces.map(({ words }) => words).join("")).toBe("red\n100%\nend");
  });

  it("says how long ago something was", () => {
    const now = Date.parse("2026-11-22T12:00:00Z");
    expect(whenOf("2026-11-22T11:59:40Z", now)).toBe("just now");
    expect(whenOf("2026-11-22T09:00:00Z", now)).toMatch(/3/);
    expect(whenOf("never", now)).toBe("");
  });
});

describe("what comes with drafts", () => {
  const one = { kind: "file", token: "a", label: "a", detail: "a" } as const;
  const picture = { mimeType: "image/png", data: "AA==" };

  it("is each session's own, and outlives the page but for pictures", () => {
    const all = { s: { mentions: [one], pictures: [picture] }, t: NOTHING };
    expect(mentionsIn(all)).toEqual({ s: [one] });
    expect(extrasFrom(mentionsIn(all))).toEqual({ s: { mentions: [one], pictures: [] } });
  });

  it("from before the first session goes to it, and takes nobody's place", () => {
    const early = { mentions: [one], pictures: [] };
    expect(handOver({ "": early }, "s")).toEqual({ s: early });
    const taken = { "": early, s: { mentions: [], pictures: [picture] } };
    expect(handOver(taken, "s")).toBe(taken);
    expect(handOver(taken, "")).toBe(taken);
  });
});

describe("drafts", () => {
  it("are kept by session, and gone when nothing is left of them", () => {
    const drafts = withDraft(withDraft({}, "a", "one"), "b", "two");
    expect(withDraft(drafts, "a", "")).toEqual({ b: "two" });
  });

  it("from before the first session go to it, and take nobody's place", () => {
    expect(handedOver({ "": "early" }, "a")).toEqual({ a: "early" });
    expect(handedOver({ "": "early", a: "own" }, "a")).toEqual({ "": "early", a: "own" });
    expect(handedOver({ "": "early" }, "")).toEqual({ "": "early" });
    const none = { b: "two" };
    expect(handedOver(none, "a")).toBe(none);
  });
});
