/** Connects reviews in the conversation and in documents: verdicts go to cards, decisions to the agent. */

import type * as acp from "@agentclientprotocol/sdk/unstable";
import type { Approvals } from "../acp/approvals";
import type { EditsDraftParams } from "../acp/own";
import { findItem } from "../state/session";
import type { Store } from "../state/store";
import type { CallItem, CallRef, FileDiff } from "../state/terms";
import { toCallNews } from "../acp/translate";
import type { Growing } from "./growing";
import { hunksOf, type Hunk } from "./hunks";
import type { Review, Reviews } from "./reviews";

/** Shows edits while they are being written. */
export interface DraftPages {
  /** An edit was made, so its draft is complete. */
  settle(callId: string): void;
  /** Show a partial edit. Its path may be relative to the session's folder. */
  grow(sessionId: string, cwd: string, path: string, growing: Growing): void;
  /** A turn has ended, or its drafts were abandoned. */
  endDrafts(sessionId: string): void;
}

export class ReviewBridge {
  constructor(
    private readonly store: Store,
    private readonly reviews: Reviews,
    private readonly approvals: Approvals,
    private readonly documents: DraftPages,
    private readonly written: { refresh(sessionId: string): Promise<void> },
  ) {
    store.listen((sessionId, events) => {
      if (events.some(({ type }) => type === "ended" || type === "lost")) documents.endDrafts(sessionId);
    });
    reviews.listen({
      onReview: (review) => this.show(review),
      onOver: (review) => this.close(review),
      onDecided: (call, decided) => this.decide(call, decided),
    });
  }

  /** Refresh the reviews after an edit, because most edits are made without a question. */
  receive({ sessionId, update }: acp.SessionNotification): void {
    if (update.sessionUpdate !== "tool_call_update") return;
    if (update.status !== "completed" && update.status !== "failed") return;
    this.documents.settle(update.toolCallId);
    if (update.status === "failed") this.documents.endDrafts(sessionId);
    const { content, kind } = toCallNews(update);
    const item = this.find(sessionId, update.toolCallId);
    const isEdit = (content ?? []).some((each) => each.type === "diff") || (kind ?? item?.kind) === "edit";
    if (update.status === "completed" && isEdit && !item?.approval) void this.written.refresh(sessionId);
  }

  /** Show a growing edit in its document while it is being written. */
  draft({ sessionId, path, ...growing }: EditsDraftParams): void {
    this.documents.grow(sessionId, this.store.get(sessionId)?.cwd ?? "/", path, growing);
  }

  private find(sessionId: string, callId: string): CallItem | undefined {
    const session = this.store.get(sessionId);
    return session && findItem(session, "call", callId);
  }

  /** Show verdicts on the card, if its change is the one under review. The file may have been edited again since. */
  private show({ sessionId, callId, diff, hunks, verdicts }: Review): void {
    const content = this.find(sessionId, callId)?.content ?? [];
    const shown = content.find((each) => each.type === "diff" && each.diff.path === diff.path);
    const isSame = shown?.type === "diff" && isSameEdit(shown.diff, { diff, hunks });
    this.store.dispatch(sessionId, { type: "judged", callId, path: diff.path, verdicts: isSame ? verdicts : [] });
  }

  /** Close hunks on cards that are no longer under review. */
  private close({ sessionId, callId, diff, verdicts, when }: Review): void {
    if (when === "after" && verdicts.includes("open")) {
      this.store.dispatch(sessionId, { type: "judged", callId, path: diff.path, verdicts: [] });
    }
  }

  private decide(call: CallRef, reviews: readonly Review[]): void {
    const [first] = reviews;
    if (!first) return;
    const isAnyAccepted = reviews.some((review) => review.verdicts.includes("accepted"));
    if (first.when === "before") {
      this.approvals.answerByHunks(call, isAnyAccepted);
      return;
    }
    this.reviews.conclude(call, "accepted");
  }
}

/** Whether a card shows the hunks under review, so that their verdicts belong to its hunks. */
export function isSameEdit(shown: FileDiff, { diff, hunks }: Pick<Review, "diff" | "hunks">): boolean {
  const own = hunksOf(shown.oldText ?? "", shown.newText);
  // The server lists a new file as one hunk, which ends behind its last line feed.
  const isNew = shown.oldText === null && diff.oldText === null && shown.newText === diff.newText;
  return isAlike(own, hunks) || (isNew && own.length === 1 && hunks.length === 1);
}

function isAlike(one: readonly Hunk[], other: readonly Hunk[]): boolean {
  const placeOf = (hunk: Hunk) => `${hunk.oldStart} ${hunk.oldLines.length} ${hunk.newStart} ${hunk.newLines.length}`;
  return one.map(placeOf).join() === other.map(placeOf).join();
}
