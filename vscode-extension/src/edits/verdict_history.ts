/**
 * The history of verdicts on edits that wait for an answer, so that they can be undone one by one.
 *
 * Edits that are already written are undone in their files instead.
 */

import type { Review, Reviews } from "./reviews";

export class VerdictHistory {
  /** By the key of a review: the hunks of each verdict, the last one last. */
  private readonly judged = new Map<string, (readonly number[])[]>();

  constructor(private readonly reviews: Reviews) {
    reviews.listen({
      onReview: () => undefined,
      onOver: ({ key }) => this.judged.delete(key),
      onDecided: () => undefined,
      onVerdict: ({ key, when }, hunks, verdict) => {
        if (when === "before" && verdict !== "open") this.judged.set(key, [...(this.judged.get(key) ?? []), hunks]);
      },
    });
  }

  /** Undo the last verdict on a review, and return whether there was one. */
  undo(review: Review): boolean {
    const hunks = this.judged.get(review.key)?.pop();
    for (const hunk of hunks ?? []) this.reviews.judge(review, review.diff.path, hunk, "open");
    return hunks !== undefined;
  }
}
