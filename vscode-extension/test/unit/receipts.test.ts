import { describe, expect, it } from "vitest";

import { receiptOf, waysOn } from "../../src/webview/receipts";

const once = { id: "allow_once", name: "Allow once", kind: "allow_once" } as const;
const always = { id: "w", name: "Always allow changes to a in this folder", kind: "allow_always" } as const;

describe("a receipt", () => {
  it("of a lasting answer says for what and where it lasts", () => {
    expect(receiptOf(always, [], "")).toBe("Always allow changes to a in this folder");
  });

  it("says how much of a change was taken", () => {
    expect(receiptOf(once, ["accepted", "rejected", "accepted"], "")).toBe("Allowed in part: 2 of 3 changes");
    expect(receiptOf(once, ["accepted", "accepted"], "")).toBe("Allowed");
    expect(receiptOf(once, [], "")).toBe("Allowed");
  });

  it("of a no has the user's own word", () => {
    expect(receiptOf({ id: "n", name: "Reject", kind: "reject_once" }, ["rejected"], "not now")).toBe(
      "Rejected: not now",
    );
  });
});

describe("after a turn that was cut short", () => {
  it("the same prompt comes first where a key or a quota stood in the way, and going on otherwise", () => {
    expect(waysOn(true, "Fix it").map(({ name }) => name)).toEqual(["Retry", "Continue"]);
    expect(waysOn(false, "Fix it").map(({ name }) => name)).toEqual(["Continue", "Retry"]);
    expect(waysOn(true, "").map(({ name }) => name)).toEqual(["Continue"]);
  });

  it("the question that waited comes first", () => {
    const [first, ...others] = waysOn(false, "", "Edit shop.py");
    expect(first).toEqual({ name: "Ask me again", prompt: "Ask me again, I could not answer: Edit shop.py" });
    expect(others.map(({ name }) => name)).toEqual(["Continue"]);
  });
});
