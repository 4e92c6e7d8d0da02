/** Permission requests: shown on their cards and answered by the user, with a verdict on each hunk. */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import type { CallNews } from "../state/events";
import { freshId } from "../state/fresh_id";
import { isLong } from "../state/long_text";
import type { AnswerOption, CallRef, FileDiff } from "../state/terms";
import type { Store } from "../state/store";
import { toCallNews } from "./translate";

/** The outcome of one file's hunks. */
export interface Outcome {
  readonly path: string;
  readonly newText: string;
  readonly rejected: readonly string[];
  /** Whether the text differs from the agent's proposal. */
  readonly isOther: boolean;
}

/** Reviews the hunks of edits. */
export interface HunkReviewer {
  /** Start the review of a call that waits for approval. */
  begin(call: CallRef, diffs: readonly FileDiff[]): void;
  /** Accept or reject all open hunks, and return the outcome. */
  conclude(call: CallRef, open: "accepted" | "rejected"): readonly Outcome[];
  /** Drop the call, because nobody waits for its answer any more. */
  withdraw(call: CallRef): void;
}

interface Open {
  readonly call: CallRef;
  readonly options: readonly AnswerOption[];
  /** Whether the whole request was on the screen. A long text counts once its end was visible. */
  isSeen: boolean;
  readonly settle: (response: acp.RequestPermissionResponse, comment?: string) => void;
}

export class Approvals {
  /** By request ID. Two calls may share an ID, and a request is answered only by its own buttons. */
  private readonly open = new Map<string, Open>();
  /** Whether the agent accepts parts of an edit, according to `_meta.hermes.edits` in its initialize response. */
  takesParts = false;

  constructor(
    private readonly store: Store,
    private readonly hunks: HunkReviewer,
  ) {}

  /** Show a request on its card and wait for the answer. */
  ask(request: acp.RequestPermissionRequest, signal: AbortSignal): Promise<acp.RequestPermissionResponse> {
    const call = toCallNews(request.toolCall);
    const options = request.options.map(({ optionId, name, kind }) => ({ id: optionId, name, kind }));
    const requestId = freshId();
    const ref: CallRef = { sessionId: request.sessionId, callId: call.id };
    return new Promise((resolve) => {
      const settle = (response: acp.RequestPermissionResponse, comment = "") => {
        this.open.delete(requestId);
        const answer = response.outcome.outcome === "selected" ? String(response.outcome.optionId) : "";
        this.store.dispatch(request.sessionId, { type: "answered", callId: call.id, requestId, answer, comment });
        resolve(response);
      };
      this.open.set(requestId, { call: ref, options, isSeen: !isLong(call.command ?? ""), settle });
      const told = toldOf(request.toolCall);
      this.store.dispatch(request.sessionId, {
        type: "asked",
        call: without(call, told.reason),
        requestId,
        options,
        ...told,
      });
      const diffs = (call.content ?? []).flatMap((each) => (each.type === "diff" ? [each.diff] : []));
      // Hunks are reviewed one by one only if the agent supports it.
      if (this.takesParts && diffs.length > 0) this.hunks.begin(ref, diffs);
      signal.addEventListener("abort", () => this.withdraw(requestId));
    });
  }

  /** Record that a request was on the screen completely. */
  noteSeen(requestId: string): void {
    const request = this.open.get(requestId);
    if (request) request.isSeen = true;
  }

  /** Return whether a request can be allowed: it is open, and was on the screen to its end. */
  canAllow(requestId: string): boolean {
    return this.open.get(requestId)?.isSeen ?? false;
  }

  /** Answer with one of the agent's options, and an optional comment. */
  answer(requestId: string, optionId: string, comment = ""): void {
    const request = this.open.get(requestId);
    const option = request?.options.find((each) => each.id === optionId);
    if (!request || !option) return;
    const isYes = option.kind.startsWith("allow");
    if (isYes && !request.isSeen) return;
    const outcomes = this.hunks.conclude(request.call, isYes ? "accepted" : "rejected");
    const meta = metaOf(isYes && this.takesParts ? outcomes : [], comment);
    request.settle({ outcome: { outcome: "selected", optionId }, ...meta }, comment);
  }

  /** Answer with the verdicts on the hunks: no if none was accepted, otherwise yes with the rejected parts. */
  answerByHunks(call: CallRef, isAnyAccepted: boolean): void {
    const kind = isAnyAccepted ? "allow" : "reject";
    for (const [requestId, request] of [...this.open]) {
      if (request.call.sessionId !== call.sessionId || request.call.callId !== call.callId) continue;
      const option = request.options.find((each) => each.kind === `${kind}_once`);
      if (option) this.answer(requestId, option.id);
    }
  }

  /** Withdraw a request that nobody waits for any more. */
  withdraw(requestId: string): void {
    const request = this.open.get(requestId);
    if (!request) return;
    this.hunks.withdraw(request.call);
    request.settle({ outcome: { outcome: "cancelled" } });
  }

  /** Withdraw all open requests of a session, because its turn was stopped or its agent has ended. */
  withdrawAll(sessionId: string): void {
    for (const [requestId, { call }] of [...this.open]) if (call.sessionId === sessionId) this.withdraw(requestId);
  }
}

/** Return the agent's reason for asking, or an empty string, and whether it is a warning. */
function toldOf({ _meta }: acp.ToolCallUpdate): { readonly reason: string; readonly isWarning: boolean } {
  const hermes = _meta?.["hermes"] as { reason?: unknown; isWarning?: unknown } | null | undefined;
  return {
    reason: typeof hermes?.reason === "string" ? hermes.reason : "",
    isWarning: hermes?.isWarning === true,
  };
}

/** Return a card without the reason in its content, which is meant for clients without our extension. */
function without(call: CallNews, reason: string): CallNews {
  if (!reason || !call.content) return call;
  return { ...call, content: call.content.filter((each) => each.type !== "text" || each.text.trim() !== reason) };
}

function metaOf(outcomes: readonly Outcome[], comment: string): { _meta?: Record<string, unknown> } {
  const edits = outcomes
    .filter((each) => each.isOther)
    .map(({ path, newText, rejected }) => ({ path, newText, rejected }));
  if (edits.length === 0 && !comment) return {};
  const hermes = { ...(edits.length > 0 ? { edits } : {}), ...(comment ? { comment } : {}) };
  return { _meta: { hermes } };
}
