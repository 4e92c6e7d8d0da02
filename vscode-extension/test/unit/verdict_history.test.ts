import { describe, expect, it } from "vitest";

import { hunksOf } from "../../src/edits/hunks";
import { Reviews, type Review } from "../../src/edits/reviews";
import { VerdictHistory } from "../../src/edits/verdict_history";

const CALL = { sessionId: "s", callId: "c" };
const DIFF = { path: "/p/a", oldText: "one\ntwo\nthree\nfour\nfive\n", newText: "ONE\ntwo\nTHREE\nfour\nFIVE\n" };

class Scene {
  readonly reviews = new Reviews();
  readonly history = new VerdictHistory(this.reviews);

  get review(): Review {
    const [review] = this.reviews.all();
    if (!review) throw new Error("nothing is under review");
    return review;
  }

  judge(hunk: number, verdict: "accepted" | "rejected"): void {
    this.reviews.judge(this.review, DIFF.path, hunk, verdict);
  }
}

describe("verdicts on an edit that waits", () => {
  it("are taken back one by one, the last one first, until none is left", () => {
    const scene = new Scene();
    scene.reviews.begin(CALL, [DIFF]);
    scene.judge(0, "accepted");
    scene.judge(2, "rejected");
    expect(scene.history.undo(scene.review)).toBe(true);
    expect(scene.review.verdicts).toEqual(["accepted", "open", "open"]);
    expect(scene.history.undo(scene.review)).toBe(true);
    expect(scene.review.verdicts).toEqual(["open", "open", "open"]);
    expect(scene.history.undo(scene.review)).toBe(false);
  });

  it("are taken back together where they were given together", () => {
    const scene = new Scene();
    scene.reviews.begin(CALL, [DIFF, { ...DIFF, path: "/p/b" }]);
    scene.reviews.judgeFile(CALL, DIFF.path, "rejected");
    expect(scene.history.undo(scene.review)).toBe(true);
    expect(scene.review.verdicts).toEqual(["open", "open", "open"]);
  });

  it("stay where the edit is written already", () => {
    const scene = new Scene();
    const hunks = hunksOf(DIFF.oldText, DIFF.newText);
    scene.reviews.resume({ sessionId: "s", callIds: ["c"], diff: DIFF, hunks });
    scene.judge(1, "rejected");
    expect(scene.history.undo(scene.review)).toBe(false);
    expect(scene.review.verdicts).toEqual(["open", "rejected", "open"]);
  });
});
