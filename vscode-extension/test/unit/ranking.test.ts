import { describe, expect, it } from "vitest";

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
