import { describe, expect, it } from "vitest";

import { growingHunks, type Growing } from "../../src/edits/growing";
import { draw } from "../../src/edits/inplace";

const BASE = "one\ntwo\nthree\n";

function shown(growing: Growing): string | undefined {
  const hunks = growingHunks(BASE, growing);
  return hunks && draw(BASE, hunks, []).text;
}

describe("an edit that is being written", () => {
  it("grows below the passage that gives way", () => {
    const grown = ["T", "TWO", "TWO\nand"].map((newText) => shown({ oldText: "two", newText, isWhole: false }));
    expect(grown).toEqual(["one\ntwo\nT\nthree\n", "one\ntwo\nTWO\nthree\n", "one\ntwo\nTWO\nand\nthree\n"]);
  });

  it("shows nothing where the passage is not there, or twice", () => {
    expect(shown({ oldText: "four", newText: "x", isWhole: false })).toBeUndefined();
    expect(growingHunks("a\na", { oldText: "a", newText: "b", isWhole: true })).toBeUndefined();
    expect(shown({ oldText: "", newText: "x", isWhole: true })).toBeUndefined();
  });

  it("leaves what is not written again yet of a whole file", () => {
    expect(shown({ newText: "ONE", isWhole: false })).toBeUndefined();
    expect(shown({ newText: "ONE\ntw", isWhole: false })).toBe("ONE\none\ntwo\nthree\n");
    expect(shown({ newText: "ONE\ntwo\nTH", isWhole: false })).toBe("one\nONE\ntwo\nthree\n");
    expect(shown({ newText: "ONE\ntwo\n", isWhole: true })).toBe("one\nONE\ntwo\nthree\n");
  });
});
