/**
 * Requests for permission: shown on their cards, answered by the user, with what was decided of each hunk.
 *
 * Knows: which requests are open, how verdicts become an answer. Does not know: how cards or hunks are drawn.
 */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import type { CallNews } from "../state/events";
import { freshId } from "../state/fresh_id";
import { isLong } from "../state/long_text";
import type { AnswerOption, CallRef, FileDiff } from "../state/terms";
import type { Store } from "../state/store";
import { toCallNews } from "./translate";

/** What the hunks of one file came to. */
export interface Outcome {
  readonly path: string;
  readonly newText: string;
  readonly rejected: readonly string[];
  /** Whether the text is another than the agent proposed. */
  readonly isOther: boolean;
}

/** Where the hunks of edits are judged. */
export interface HunkReviewer {
  /** Begin to judge the files of a call that waits for approval. */
  begin(call: CallRef, diffs: readonly FileDiff[]): void;
  /** Take what is still open as accepted or rejected, and give what came of it. */
  conclude(call: CallRef, open: "accepted" | "rejected"): readonly Outcome[];
  /** Forget the call: nobody waits for its answer any more. */
  withdraw(call: CallRef): void;
}

interface Open {
  readonly call: CallRef;
  readonly options: readonly AnswerOption[];
  /** Whether all that is asked about was on the screen: a long text is only once its end was. */
  isSeen: boolean;
  readonly settle: (response: acp.RequestPermissionResponse, comment?: string) => void;
}

export class Approvals {
  /** By the id of the request: two calls may share an id, a request is answered by its own buttons alone. */
  private readonly open = new Map<string, Open>();
  /** Whether the agent takes a part of an edit, as `_meta.hermes.edits` of its greeting says. */
  takesParts = false;

  constructor(
    private readonly store: Store,
    private readonly hunks: HunkReviewer,
  ) {}

  /** Show a request on its card and wait for as long as it takes. */
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
      // Hunks are judged one by one only where the agent heeds it.
      if (this.takesParts && diffs.length > 0) this.hunks.begin(ref, diffs);
      signal.addEventListener("abort", () => this.withdraw(requestId));
    });
  }

  /** Note that all of what a request asks about was on the screen. */
  noteSeen(requestId: string): void {
    const request = this.open.get(requestId);
    if (request) request.isSeen = true;
  }

  /** Return whether yes can be the answer to a request: it waits, and what it asks about was on the screen to its end. */
  canAllow(requestId: string): boolean {
    return this.open.get(requestId)?.isSeen ?? false;
  }

  /** Answer with one of the options the agent offered, and a word on it. */
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

  /** Answer by what was decided of the hunks: no where none was taken, else yes with what was left out. */
  answerByHunks(call: CallRef, isAnyAccepted: boolean): void {
    const kind = isAnyAccepted ? "allow" : "reject";
    for (const [requestId, request] of [...this.open]) {
      if (request.call.sessionId !== call.sessionId || request.call.callId !== call.callId) continue;
      const option = request.options.find((each) => each.kind === `${kind}_once`);
      if (option) this.answer(requestId, option.id);
    }
  }

  /** Take a request back that nobody waits for any more. */
  withdraw(requestId: string): void {
    const request = this.open.get(requestId);
    if (!request) return;
    this.hunks.withdraw(request.call);
    request.settle({ outcome: { outcome: "cancelled" } });
  }

  /** Take back everything a session has open: its turn is stopped, or its agent is gone. */
  withdrawAll(sessionId: string): void {
    for (const [requestId, { call }] of [...this.open]) if (call.sessionId === sessionId) this.withdraw(requestId);
  }
}

/** Return the sentence that says why the agent asks, empty where it gives none, and whether that is a warning. */
function toldOf({ _meta }: acp.ToolCallUpdate): { readonly reason: string; readonly isWarning: boolean } {
  const hermes = _meta?.["hermes"] as { reason?: unknown; isWarning?: unknown } | null | undefined;
  return {
    reason: typeof hermes?.reason === "string" ? hermes.reason : "",
    isWarning: hermes?.isWarning === true,
  };
}

/** Return a card without the reason among its content, where clients that know nothing of ours find it. */
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
