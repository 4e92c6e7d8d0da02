/** Edits under review: for each call and file, which hunks are open, accepted or rejected. */

import type { HunkReviewer, Outcome } from "../acp/approvals";
import { moreLines } from "../messages/agent";
import type { CallRef, FileDiff, Verdict } from "../state/terms";
import { describe, hunksOf, textWith, type Hunk } from "./hunks";

/**
 * One file of one call. `before` means that nothing is written until it is decided; `after`, that it is already
 * written.
 */
export interface Review {
  readonly key: string;
  readonly sessionId: string;
  /** The call whose card shows it: the last one if several calls wrote the file. */
  readonly callId: string;
  readonly when: "before" | "after";
  readonly diff: FileDiff;
  readonly hunks: readonly Hunk[];
  readonly verdicts: readonly Verdict[];
}

export interface Listener {
  /** A review started, or its verdicts changed. */
  onReview(review: Review): void;
  /** A review has ended; `review` is its last state. */
  onOver(review: Review): void;
  /** Every hunk of a call is decided. */
  onDecided(call: CallRef, reviews: readonly Review[]): void;
  /** Open hunks were reviewed; `review` is the state before. */
  onVerdict?(review: Review, hunks: readonly number[], verdict: Verdict): void;
}

/** The open hunks of a file that is already written. */
export interface Written {
  readonly sessionId: string;
  readonly callIds: readonly string[];
  readonly diff: FileDiff;
  readonly hunks: readonly Hunk[];
}

export class Reviews implements HunkReviewer {
  private readonly reviews = new Map<string, Review>();
  private readonly listeners = new Set<Listener>();
  /** Returns the text of a decided file in its editor, if the user has typed in it in the meantime. */
  textOf: (review: Review) => string | undefined = () => undefined;

  listen(listener: Listener): void {
    this.listeners.add(listener);
  }

  all(): readonly Review[] {
    return [...this.reviews.values()];
  }

  find(call: CallRef, path: string): Review | undefined {
    return this.reviews.get(keyOf(call, path));
  }

  forFile(path: string): Review | undefined {
    return this.all().find((review) => review.diff.path === path);
  }

  begin(call: CallRef, diffs: readonly FileDiff[]): void {
    for (const diff of diffs) {
      const hunks = hunksOf(diff.oldText ?? "", diff.newText);
      if (hunks.length > 0) this.open(call, "before", diff, hunks);
    }
  }

  /** Review an edit that is already written. An existing review of the same edit continues. */
  resume({ sessionId, callIds, diff, hunks }: Written): void {
    const older = this.all().find((each) => each.when === "after" && each.diff.path === diff.path);
    if (older && textWith(older.diff.oldText ?? "", older.hunks, older.verdicts, "accepted") === diff.newText) {
      const open = older.verdicts.filter((verdict) => verdict === "open").length;
      if (open === hunks.length) return;
    }
    if (older) this.remove(older);
    const callId = callIds.at(-1) ?? "";
    this.open({ sessionId, callId }, "after", diff, hunks);
  }

  private open(call: CallRef, when: Review["when"], diff: FileDiff, hunks: readonly Hunk[]): void {
    const key = keyOf(call, diff.path);
    const verdicts = hunks.map((): Verdict => "open");
    const { sessionId, callId } = call;
    this.put({ key, sessionId, callId, when, diff, hunks, verdicts });
  }

  /** Decide one hunk, or revert a decision. */
  judge(call: CallRef, path: string, hunk: number, verdict: Verdict): void {
    const review = this.find(call, path);
    if (!review || review.verdicts[hunk] === undefined) return;
    // A hunk removed from a written file cannot be reopened.
    if (review.when === "after" && review.verdicts[hunk] !== "open") return;
    this.tellVerdict(review, [hunk], verdict);
    this.put({ ...review, verdicts: review.verdicts.with(hunk, verdict) });
    this.checkDecided(call);
  }

  /** Decide all open hunks of a file. */
  judgeFile(call: CallRef, path: string, verdict: Verdict): void {
    const review = this.find(call, path);
    if (!review) return;
    const open = review.verdicts.flatMap((each, hunk) => (each === "open" ? [hunk] : []));
    this.tellVerdict(review, open, verdict);
    this.put({ ...review, verdicts: settled(review.verdicts, verdict) });
    this.checkDecided(call);
  }

  /** Decide all open hunks of all files. */
  judgeAll(verdict: Verdict): void {
    for (const review of this.all()) this.judgeFile(review, review.diff.path, verdict);
  }

  conclude(call: CallRef, open: "accepted" | "rejected"): readonly Outcome[] {
    return this.ofCall(call).map((review) => {
      const verdicts =
        open === "rejected" ? review.verdicts.map((): Verdict => "rejected") : settled(review.verdicts, open);
      const decided = { ...review, verdicts };
      this.put(decided);
      const outcome = outcomeOf(decided, this.textOf(decided));
      this.remove(decided);
      return outcome;
    });
  }

  withdraw(call: CallRef): void {
    for (const review of this.ofCall(call)) this.remove(review);
  }

  private tellVerdict(review: Review, hunks: readonly number[], verdict: Verdict): void {
    if (hunks.length > 0) for (const listener of this.listeners) listener.onVerdict?.(review, hunks, verdict);
  }

  /** End a review in its current state, because it cannot be reviewed here any more. */
  discard(review: Review): void {
    this.remove(review);
  }

  private checkDecided(call: CallRef): void {
    const reviews = this.ofCall(call);
    if (!reviews.every((review) => review.verdicts.every((verdict) => verdict !== "open"))) return;
    for (const listener of this.listeners) listener.onDecided(call, reviews);
  }

  private ofCall({ sessionId, callId }: CallRef): readonly Review[] {
    return this.all().filter((review) => review.sessionId === sessionId && review.callId === callId);
  }

  private put(review: Review): void {
    this.reviews.set(review.key, review);
    for (const listener of this.listeners) listener.onReview(review);
  }

  private remove(review: Review): void {
    this.reviews.delete(review.key);
    for (const listener of this.listeners) listener.onOver(review);
  }
}

const keyOf = ({ sessionId, callId }: CallRef, path: string): string => `${sessionId} ${callId} ${path}`;

function settled(verdicts: readonly Verdict[], verdict: Verdict): readonly Verdict[] {
  return verdicts.map((each) => (each === "open" ? verdict : each));
}

/** Return the outcome of a review: the text to keep, and a description of the rejected parts for the agent. */
export function outcomeOf(review: Review, shown?: string): Outcome {
  const { diff, hunks, verdicts } = review;
  const newText = shown ?? textWith(diff.oldText ?? "", hunks, verdicts);
  const rejected = hunks.flatMap((hunk, number) => (verdicts[number] === "rejected" ? [rejectedAs(hunk)] : []));
  return { path: diff.path, newText, rejected, isOther: newText !== diff.newText };
}

const MAX_SHOWN = 12;

function rejectedAs(hunk: Hunk): string {
  const signed = [...hunk.oldLines.map((line) => `-${line}`), ...hunk.newLines.map((line) => `+${line}`)];
  const rest = signed.length - MAX_SHOWN;
  const shown = rest > 0 ? [...signed.slice(0, MAX_SHOWN), moreLines(rest)] : signed;
  return [`${describe(hunk)}:`, ...shown].join("\n");
}
