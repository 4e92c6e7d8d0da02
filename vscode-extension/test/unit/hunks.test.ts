import { describe as group, expect, it } from "vitest";

import { describe, hunksOf, tally, textWith } from "../../src/edits/hunks";
import type { Verdict } from "../../src/state/terms";

const BEFORE = "one\ntwo\nthree\nfour\nfive\n";
const AFTER = "ONE\ntwo\nthree\nfive\nsix\n";

group("hunks", () => {
  it("cuts a change into its contiguous pieces", () => {
    const hunks = hunksOf(BEFORE, AFTER);
    expect(hunks.map(({ oldStart, oldLines, newLines }) => [oldStart, oldLines, newLines])).toEqual([
      [0, ["one"], ["ONE"]],
      [3, ["four"], []],
      [5, [], ["six"]],
    ]);
    expect(tally(hunks)).toEqual({ added: 2, removed: 2 });
  });

  it("gives the old text when all are rejected and the new one when all are accepted", () => {
    const hunks = hunksOf(BEFORE, AFTER);
    const all = (verdict: Verdict) => hunks.map(() => verdict);
    expect(textWith(BEFORE, hunks, all("rejected"))).toBe(BEFORE);
    expect(textWith(BEFORE, hunks, all("accepted"))).toBe(AFTER);
    expect(textWith(BEFORE, hunks, all("open"), "accepted")).toBe(AFTER);
  });

  it("makes a new file, and lines put in between others, one piece each, whatever empty lines they have", () => {
    const placed = (before: string, after: string) =>
      hunksOf(before, after).map(({ oldStart, oldLines, newStart, newLines }) => [
        oldStart,
        oldLines,
        newStart,
        newLines,
      ]);
    expect(placed("", "a\n\nb\n")).toEqual([[0, [], 0, ["a", "", "b"]]]);
    expect(placed("x\n\ny\n", "x\n\na\n\nb\n\ny\n")).toEqual([[2, [], 2, ["a", "", "b", ""]]]);
    expect(placed("same\n", "same\n")).toEqual([]);
  });

  it("takes exactly the hunks that are accepted", () => {
    const hunks = hunksOf(BEFORE, AFTER);
    expect(textWith(BEFORE, hunks, ["accepted", "rejected", "accepted"])).toBe("ONE\ntwo\nthree\nfour\nfive\nsix\n");
  });

  it("keeps line ends, and the lack of one at the end", () => {
    for (const [before, after] of [
      ["a\r\nb\r\n", "a\r\nB\r\n"],
      ["a", "a\n"],
      ["", "new"],
      ["gone\n", ""],
    ] as const) {
      const hunks = hunksOf(before, after);
      expect(
        textWith(
          before,
          hunks,
          hunks.map(() => "accepted"),
        ),
      ).toBe(after);
      expect(
        textWith(
          before,
          hunks,
          hunks.map(() => "rejected"),
        ),
      ).toBe(before);
    }
  });

  it("rejoins whatever texts there are", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 16807) % 2147483647) % below;
    const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n");
    for (let round = 0; round < 300; round += 1) {
      const [before, after] = [text(), text()];
      const hunks = hunksOf(before, after);
      expect(
        textWith(
          before,
          hunks,
          hunks.map(() => "accepted"),
        ),
      ).toBe(after);
    }
  });

  it("says in words what a hunk does", () => {
    expect(hunksOf(BEFORE, AFTER).map(describe)).toEqual([
      "1 line changed at line 1",
      "1 line removed at line 4",
      "1 line added at line 6",
    ]);
  });
});
