import { describe, expect, it } from "vitest";

import { hunksOf } from "../../src/edits/hunks";
import { decide, draw, follow, type Block } from "../../src/edits/inplace";

const BEFORE = "one\ntwo\nthree\n";
const AFTER = "ONE\ntwo\nTHREE\n";
const hunks = hunksOf(BEFORE, AFTER);
const shown = draw(BEFORE, hunks, ["open", "open"]);

describe("hunks drawn into a text", () => {
  it("shows what goes above what comes", () => {
    expect(shown.text).toBe("one\nONE\ntwo\nthree\nTHREE\n");
    expect(shown.blocks).toEqual([
      { hunk: 0, line: 0, gone: 1, come: 1 },
      { hunk: 1, line: 3, gone: 1, come: 1 },
    ]);
  });

  it("is the old or the new text once all is decided", () => {
    expect(decide(shown.text, shown.blocks, () => "old")).toEqual({ text: BEFORE, blocks: [] });
    expect(decide(shown.text, shown.blocks, () => "new")).toEqual({ text: AFTER, blocks: [] });
  });

  it("moves the blocks below one that is decided", () => {
    const next = decide(shown.text, shown.blocks, (hunk) => (hunk === 0 ? "new" : "both"));
    expect(next.text).toBe("ONE\ntwo\nthree\nTHREE\n");
    expect(next.blocks).toEqual([{ hunk: 1, line: 2, gone: 1, come: 1 }]);
  });

  it("shows decided hunks as they were decided", () => {
    expect(draw(BEFORE, hunks, ["rejected", "open"]).text).toBe("one\ntwo\nthree\nTHREE\n");
  });
});

describe("typing around hunks", () => {
  const typed = (first: number, last: number, lines: number) => follow(shown.blocks, { first, last, lines });
  const lines = (blocks: readonly Block[]) => blocks.map(({ hunk, line, gone, come }) => [hunk, line, gone, come]);

  it("moves what is below", () => {
    expect(lines(typed(2, 2, 3))).toEqual([
      [0, 0, 1, 1],
      [1, 5, 1, 1],
    ]);
  });

  it("makes lines typed into what comes a part of it", () => {
    expect(lines(typed(1, 1, 2))).toEqual([
      [0, 0, 1, 2],
      [1, 4, 1, 1],
    ]);
  });

  it("gives up a hunk whose old lines were touched", () => {
    expect(lines(typed(0, 0, 1))).toEqual([[1, 3, 1, 1]]);
  });

  it("leaves alone what is above", () => {
    expect(lines(typed(5, 5, 2))).toEqual(lines(shown.blocks));
  });
});
