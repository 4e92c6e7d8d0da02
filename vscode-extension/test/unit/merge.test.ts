import { describe, expect, it } from "vitest";

import { merge } from "../../src/edits/merge";

const BASE = "one\ntwo\nthree\nfour\nfive\n";

describe("two changes of one text", () => {
  it("are both made where they touch different lines", () => {
    expect(merge(BASE, "ONE\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nFIVE\nsix\n")).toBe(
      "ONE\ntwo\nthree\nfour\nFIVE\nsix\n",
    );
  });

  it("are both made on lines beside each other", () => {
    expect(merge(BASE, "one\nTWO\nthree\nfour\nfive\n", "one\ntwo\nTHREE\nfour\nfive\n")).toBe(
      "one\nTWO\nTHREE\nfour\nfive\n",
    );
    expect(merge(BASE, "one\nTWO\nthree\nfour\nfive\n", "one\nmore\ntwo\nthree\nfour\nfive\n")).toBe(
      "one\nmore\nTWO\nthree\nfour\nfive\n",
    );
  });

  it("are one where they are the same", () => {
    expect(merge(BASE, "ONE\ntwo\nthree\nfour\nFIVE\n", "ONE\ntwo\nthree\nfour\nfive\n")).toBe(
      "ONE\ntwo\nthree\nfour\nFIVE\n",
    );
  });

  it("cannot be put together on the same lines", () => {
    expect(merge(BASE, "ONE\ntwo\nthree\nfour\nfive\n", "Eins\ntwo\nthree\nfour\nfive\n")).toBeUndefined();
    expect(merge(BASE, "one\nx\ntwo\nthree\nfour\nfive\n", "one\ny\ntwo\nthree\nfour\nfive\n")).toBeUndefined();
    expect(merge(BASE, "one\nfive\n", "one\ntwo\nthree\nand\nfour\nfive\n")).toBeUndefined();
  });
});
