import { describe, expect, it } from "vitest";

import { hunksOf } from "../../src/edits/hunks";
import { changedWords } from "../../src/edits/words";

const wordsOf = (before: string, after: string) => {
  const [hunk] = hunksOf(before, after);
  if (!hunk) throw new Error("nothing differs");
  const textOf = (lines: readonly string[], places: ReturnType<typeof changedWords>["gone"]) =>
    places.map(({ line, from, to }) => lines[line]?.slice(from, to));
  const { gone, come } = changedWords(hunk);
  return [textOf(hunk.oldLines, gone), textOf(hunk.newLines, come)];
};

describe("the words of a hunk that differ", () => {
  it("are found within a line", () => {
    expect(wordsOf("def greet(name):\n", "def greet(name: str):\n")).toEqual([[], [": str"]]);
    expect(wordsOf("the old word here\n", "the new word here\n")).toEqual([["old"], ["new"]]);
  });

  it("are found over several lines", () => {
    expect(wordsOf("first = 1\nsecond = 2\n", "first = 1\nmore = 3\nsecond = 4\n")[1]?.join("")).toContain("more");
    expect(wordsOf("a = one\nb = two\n", "a = uno\nb = due\n")).toEqual([
      ["one", "two"],
      ["uno", "due"],
    ]);
  });

  it("are none where the lines have little in common, or one side is empty", () => {
    expect(wordsOf("abc\n", "something else entirely\n")).toEqual([[], []]);
    expect(wordsOf("abc\n", "abc\nmore\n")).toEqual([[], []]);
  });
});
