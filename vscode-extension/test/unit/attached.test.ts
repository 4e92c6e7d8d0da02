import { describe, expect, it } from "vitest";

import { withoutFence } from "../../src/editor/fence";
import { transcriptOf } from "../../src/editor/past_session";
import type { Item } from "../../src/state/terms";
import { EMPTY, fold } from "../../src/webview/model";

const user = (text: string): Item => ({ type: "user", id: "u", text, attachments: [], isWaiting: false });
const agent = (text: string): Item => ({ type: "agent", id: "a", text });

describe("a past session as text", () => {
  it("is what both sides said", () => {
    expect(transcriptOf({ items: [user("tidy it"), agent("Done.")] })).toBe("User:\ntidy it\n\nAgent:\nDone.");
  });

  it("keeps its end where it is long, and shortens long entries", () => {
    const items = Array.from({ length: 20 }, (_, at) => agent(`${at} ${"x".repeat(9_000)}`));
    const text = transcriptOf({ items });
    expect(text.length).toBeLessThan(41_000);
    expect(text).toContain("19 xxx");
    expect(text).not.toContain("1 xxx".repeat(2));
    expect(text.startsWith("[the rest is omitted]")).toBe(true);
  });
});

describe("what is put into the prompt", () => {
  it("is all there where several things come at once", () => {
    const picture = { mimeType: "image/png", data: "AAAA" };
    const mention = { kind: "file", token: "a.txt", label: "a.txt", detail: "a.txt" } as const;
    const model = [{ type: "insert", mention } as const, { type: "insertPicture", picture } as const].reduce(
      fold,
      EMPTY,
    );
    expect(model.inserted).toEqual({ count: 2, latest: [{ mention }, { picture }] });
  });
});

describe("a commit message that comes as a block of code", () => {
  it("is what the block holds", () => {
    expect(withoutFence("```text\nAdd it\n\nIt was missing.\n```\n")).toBe("Add it\n\nIt was missing.");
    expect(withoutFence(" Add it\n")).toBe("Add it");
    expect(withoutFence("Use ```x``` here")).toBe("Use ```x``` here");
  });
});
