/** The result of an answer, and how an interrupted turn can continue. */

import { askAgain, CONTINUE_TURN } from "../messages/agent";
import * as messages from "../messages/conversation";
import type { AnswerOption, Verdict } from "../state/terms";

/** Return whether an answer applies only once, or is of an unknown kind. */
export function isOnce({ kind }: AnswerOption): boolean {
  return !kind.endsWith("_always");
}

/**
 * Describe the result of an answer. A lasting answer is described by its own label, which says its scope and duration.
 */
export function receiptOf(option: AnswerOption, verdicts: readonly Verdict[], comment: string): string {
  if (!isOnce(option)) return messages.answeredLastingly(option.name, comment);
  const isYes = option.kind.startsWith("allow");
  const accepted = verdicts.filter((each) => each !== "rejected").length;
  return isYes && accepted < verdicts.length
    ? messages.allowedInPart(accepted, verdicts.length)
    : messages.answered(isYes, comment);
}

export interface WayOn {
  readonly name: string;
  readonly prompt: string;
}

/**
 * Return how an interrupted turn can continue, best option first. After a refused key, nothing can be continued. If a
 * question was open, the user wants to see it again.
 */
export function waysOn(isToRetry: boolean, asked: string, unanswered = ""): readonly WayOn[] {
  const goOn = { name: messages.CONTINUE, prompt: CONTINUE_TURN };
  if (unanswered) return [{ name: messages.ASK_AGAIN, prompt: askAgain(unanswered) }, goOn];
  const again = asked ? [{ name: messages.RETRY, prompt: asked }] : [];
  return isToRetry ? [...again, goOn] : [goOn, ...again];
}
