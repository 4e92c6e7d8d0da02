import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { KeptDrafts } from "../../src/panel/kept_drafts";
import type { Mention } from "../../src/panel/protocol";
import { Memory } from "../../src/state/memory";

const NOTES: Mention = { kind: "file", token: "notes.txt", label: "notes.txt", detail: "notes.txt" };

describe("drafts of the panel", () => {
  let folder: string;
  const open = () => new KeptDrafts(new Memory(join(folder, "drafts.json")));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "drafts-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("are there after a reload, with what they mention, as they were last", () => {
    const before = open();
    before.take({ sessionId: "s", text: "Look at" });
    before.take({ sessionId: "s", text: "Look at @notes.txt" });
    before.take({ sessionId: "s", mentions: [NOTES] });
    before.take({ sessionId: "other", text: "Later" });
    before.dispose();
    expect(open().all).toEqual({
      drafts: { s: "Look at @notes.txt", other: "Later" },
      mentions: { s: [NOTES] },
    });
  });

  it("are gone once they are sent", () => {
    const before = open();
    before.take({ sessionId: "s", text: "Look", mentions: [NOTES] });
    before.take({ sessionId: "s", text: "", mentions: [] });
    before.dispose();
    expect(open().all).toEqual({ drafts: {}, mentions: {} });
  });

  it("are nothing where nobody wrote, so that pages go by what they kept", () => {
    expect(open().all).toBeUndefined();
  });
});
