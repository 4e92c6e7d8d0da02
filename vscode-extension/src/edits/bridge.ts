/**
 * Reviews between the conversation and the documents: verdicts onto cards, decisions to the agent.
 *
 * Knows: when a review's verdicts matter to whom. Does not know: how hunks are drawn.
 */

import type * as acp from "@agentclientprotocol/sdk/unstable";
import * as vscode from "vscode";

import type { Approvals } from "../acp/approvals";
import type { Store } from "../state/store";
import { toCallNews } from "../acp/translate";
import type { Review, Reviews } from "./reviews";

export class ReviewBridge {
  constructor(
    private readonly store: Store,
    private readonly reviews: Reviews,
    private readonly approvals: Approvals,
    private readonly documents: { settle(callId: string): void },
    private readonly conversations: { remark(sessionId: string, text: string): void },
  ) {
    reviews.listen({
      onReview: (review) => this.show(review),
      onOver: () => undefined,
      onDecided: (callId, decided) => this.decide(callId, decided),
    });
  }

  /** Begin to review what was written unasked, where the user wants to see it all. */
  hear({ sessionId, update }: acp.SessionNotification): void {
    if (update.sessionUpdate !== "tool_call_update") return;
    if (update.status !== "completed" && update.status !== "failed") return;
    this.documents.settle(update.toolCallId);
    if (update.status === "failed") return;
    if (!vscode.workspace.getConfiguration("hermes").get<boolean>("edits.reviewWritten", true)) return;
    if (!this.approvals.takesParts) return;
    const item = this.store
      .get(sessionId)
      ?.items.findLast((each) => each.type === "call" && each.id === update.toolCallId);
    if (item?.type !== "call" || item.approval) return;
    const diffs = (toCallNews(update).content ?? []).flatMap((each) => (each.type === "diff" ? [each.diff] : []));
    if (diffs.length > 0) this.reviews.begin(sessionId, update.toolCallId, diffs, "after");
  }

  private show({ sessionId, callId, diff, verdicts }: Review): void {
    this.store.dispatch(sessionId, { type: "judged", callId, path: diff.path, verdicts });
  }

  private decide(callId: string, reviews: readonly Review[]): void {
    const [first] = reviews;
    if (!first) return;
    const isAnyAccepted = reviews.some((review) => review.verdicts.includes("accepted"));
    if (first.when === "before") {
      this.approvals.answerByHunks(callId, isAnyAccepted);
      return;
    }
    const outcomes = this.reviews.conclude(callId, "accepted");
    const files = outcomes.filter((each) => each.rejected.length > 0).map(({ path, rejected }) => ({ path, rejected }));
    if (files.length > 0) this.conversations.remark(first.sessionId, takenBack(files));
  }
}

/** Say in words for the agent what was taken back of what it wrote. */
function takenBack(files: readonly { readonly path: string; readonly rejected: readonly string[] }[]): string {
  const parts = files.map(({ path, rejected }) => `In ${path}:\n${rejected.join("\n")}`);
  return `[I took back these parts of your edits; the files are as I want them now.\n${parts.join("\n")}]`;
}
