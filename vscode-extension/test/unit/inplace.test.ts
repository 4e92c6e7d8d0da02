import { describe, expect, it } from "vitest";

import { hunksOf } from "../../src/edits/hunks";
import { draw } from "../../src/edits/inplace";

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

  it("shows decided hunks as they were decided", () => {
    expect(draw(BEFORE, hunks, ["rejected", "open"]).text).toBe("one\ntwo\nthree\nTHREE\n");
    const next = draw(BEFORE, hunks, ["accepted", "open"]);
    expect(next.text).toBe("ONE\ntwo\nthree\nTHREE\n");
    expect(next.blocks).toEqual([{ hunk: 1, line: 2, gone: 1, come: 1 }]);
  });
});
