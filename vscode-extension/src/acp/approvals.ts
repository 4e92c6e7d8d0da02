/**
 * Requests for permission: shown on their cards, answered by the user, with what was decided of each hunk.
 *
 * Knows: which requests are open, how verdicts become an answer. Does not know: how cards or hunks are drawn.
 */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import type { AnswerOption, FileDiff } from "../state/terms";
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
export interface HunkDesk {
  /** Begin to judge the files of a call that waits for approval. */
  begin(sessionId: string, callId: string, diffs: readonly FileDiff[]): void;
  /** Take what is still open as accepted or rejected, and give what came of it. */
  conclude(callId: string, open: "accepted" | "rejected"): readonly Outcome[];
  /** Forget the call: nobody waits for its answer any more. */
  withdraw(callId: string): void;
}

interface Open {
  readonly sessionId: string;
  readonly options: readonly AnswerOption[];
  readonly settle: (response: acp.RequestPermissionResponse, comment?: string) => void;
}

export class Approvals {
  private readonly open = new Map<string, Open>();
  private count = 0;
  /** Whether the agent takes a part of an edit, as `_meta.hermes.edits` of its greeting says. */
  takesParts = false;

  constructor(
    private readonly store: Store,
    private readonly hunks: HunkDesk,
  ) {}

  /** Show a request on its card and wait for as long as it takes. */
  ask(request: acp.RequestPermissionRequest, signal: AbortSignal): Promise<acp.RequestPermissionResponse> {
    const call = toCallNews(request.toolCall);
    const options = request.options.map(({ optionId, name, kind }) => ({ id: optionId, name, kind }));
    this.count += 1;
    const requestId = `request-${this.count}`;
    return new Promise((resolve) => {
      const settle = (response: acp.RequestPermissionResponse, comment = "") => {
        this.open.delete(call.id);
        const answer = response.outcome.outcome === "selected" ? String(response.outcome.optionId) : "";
        this.store.dispatch(request.sessionId, { type: "answered", callId: call.id, requestId, answer, comment });
        resolve(response);
      };
      this.open.set(call.id, { sessionId: request.sessionId, options, settle });
      this.store.dispatch(request.sessionId, { type: "asked", call, requestId, options });
      const diffs = (call.content ?? []).flatMap((each) => (each.type === "diff" ? [each.diff] : []));
      // Hunks are judged one by one only where the agent heeds it.
      if (this.takesParts && diffs.length > 0) this.hunks.begin(request.sessionId, call.id, diffs);
      signal.addEventListener("abort", () => this.withdraw(call.id));
    });
  }

  /** Answer with one of the options the agent offered, and a word on it. */
  answer(callId: string, optionId: string, comment = ""): void {
    const request = this.open.get(callId);
    const option = request?.options.find((each) => each.id === optionId);
    if (!request || !option) return;
    const isYes = option.kind.startsWith("allow");
    const outcomes = this.hunks.conclude(callId, isYes ? "accepted" : "rejected");
    const meta = metaOf(isYes && this.takesParts ? outcomes : [], comment);
    request.settle({ outcome: { outcome: "selected", optionId }, ...meta }, comment);
  }

  /** Answer by what was decided of the hunks: no where none was taken, else yes with what was left out. */
  answerByHunks(callId: string, isAnyAccepted: boolean): void {
    const request = this.open.get(callId);
    const kind = isAnyAccepted ? "allow" : "reject";
    const option = request?.options.find((each) => each.kind === `${kind}_once`);
    if (option) this.answer(callId, option.id);
  }

  /** Take a request back that nobody waits for any more. */
  withdraw(callId: string): void {
    this.hunks.withdraw(callId);
    this.open.get(callId)?.settle({ outcome: { outcome: "cancelled" } });
  }

  /** Take back everything a session has open: its turn is stopped, or its agent is gone. */
  withdrawAll(sessionId: string): void {
    for (const [callId, request] of [...this.open]) if (request.sessionId === sessionId) this.withdraw(callId);
  }
}

function metaOf(outcomes: readonly Outcome[], comment: string): { _meta?: Record<string, unknown> } {
  const edits = outcomes
    .filter((each) => each.isOther)
    .map(({ path, newText, rejected }) => ({ path, newText, rejected }));
  if (edits.length === 0 && !comment) return {};
  const hermes = { ...(edits.length > 0 ? { edits } : {}), ...(comment ? { comment } : {}) };
  return { _meta: { hermes } };
}
