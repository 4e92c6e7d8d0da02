import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { isInGit } from "../../src/editor/git_folder";
import { offered } from "../../src/editor/offered";
import type { Mention } from "../../src/panel/protocol";

import { ranked, type Candidate } from "../../src/editor/ranking";

const closed = (path: string): Candidate => ({ path, isOpen: false });
const pathsOf = (candidates: readonly Candidate[], query: string) => ranked(candidates, query).map(({ path }) => path);

describe("the files that an @ may mean", () => {
  const files: readonly Candidate[] = [
    closed("shop.py"),
    closed("a/shopping.py"),
    { path: "lib/workshop.py", isOpen: false, seenAgo: 3 },
    { path: "web/deep/down/shop_view.py", isOpen: true, seenAgo: 1 },
    { path: "web/shop_test.py", isOpen: true, seenAgo: 0 },
    closed("shop/other.py"),
    closed("s/h/o/p.txt"),
  ];

  it("are the open ones first, then those seen lately, then those whose names fit best", () => {
    expect(pathsOf(files, "shop")).toEqual([
      "web/shop_test.py",
      "web/deep/down/shop_view.py",
      "lib/workshop.py",
      "shop.py",
      "a/shopping.py",
      "shop/other.py",
      "s/h/o/p.txt",
    ]);
  });

  it("are all of them before anything is typed", () => {
    expect(pathsOf(files, "").slice(0, 4)).toEqual([
      "web/shop_test.py",
      "web/deep/down/shop_view.py",
      "lib/workshop.py",
      "shop.py",
    ]);
  });

  it("are not preferred for letters that only follow each other somewhere", () => {
    const some: readonly Candidate[] = [
      { path: "src/have/other/paths.ts", isOpen: true, seenAgo: 0 },
      closed("hop.ts"),
    ];
    expect(pathsOf(some, "hop")).toEqual(["hop.ts", "src/have/other/paths.ts"]);
  });
});

describe("what is offered", () => {
  const one = (kind: Mention["kind"], token: string): Mention => ({ kind, token, label: token, detail: "" });
  const files = Array.from({ length: 40 }, (_, at) => one("file", `f${at}`));
  const special = [one("changes", "changes"), one("selection", "a.py:1-2")];
  const folders = [one("folder", "src"), one("folder", "test"), one("folder", "docs")];
  const found = { special, folders, files, symbols: [one("symbol", "fan")], sessions: [one("session", "session:fix")] };

  it("for an @ alone is something of every kind, files first", () => {
    const kinds = offered("", found).map(({ kind }) => kind);
    expect(kinds.slice(0, 12)).toEqual([
      "selection",
      ...Array.from({ length: 6 }, () => "file"),
      "folder",
      "folder",
      "changes",
      "symbol",
      "session",
    ]);
    expect(kinds[12]).toBe("url");
    expect(kinds.length).toBe(30);
  });

  it("for a word is what it may mean, and no beginnings", () => {
    expect(offered("f", found).some(({ isStart }) => isStart)).toBe(false);
    expect(offered("f", found)[2]?.kind).toBe("session");
  });
});

describe("a folder", () => {
  it("is in a repository where it or one above it is one", async () => {
    const root = mkdtempSync(join(tmpdir(), "git-"));
    mkdirSync(join(root, "shop", "src"), { recursive: true });
    expect(await isInGit(join(root, "shop", "src"))).toBe(false);
    writeFileSync(join(root, "shop", ".git"), "gitdir: elsewhere");
    expect(await isInGit(join(root, "shop", "src"))).toBe(true);
    rmSync(root, { recursive: true });
  });
});
