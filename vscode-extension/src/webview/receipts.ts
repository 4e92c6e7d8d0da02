/**
 * What an answer came to, and how a turn that was cut short can go on.
 *
 * Knows: the words and their order. Does not know: how they are drawn.
 */

import { askAgain, CONTINUE_TURN } from "../messages/agent";
import * as messages from "../messages/conversation";
import type { AnswerOption, Verdict } from "../state/terms";

/** Return whether an answer is for this time only, or of a kind that is not known. */
export function isOnce({ kind }: AnswerOption): boolean {
  return !kind.endsWith("_always");
}

/** Return what an answer came to: a lasting one by its own words, which say for what and for how long. */
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
 * Return how a turn that was cut short can go on, the best first: where a key was refused, nothing can be continued, and where
 * a question waited, that is what its user wants to see again.
 */
export function waysOn(isToRetry: boolean, asked: string, unanswered = ""): readonly WayOn[] {
  const goOn = { name: messages.CONTINUE, prompt: CONTINUE_TURN };
  if (unanswered) return [{ name: messages.ASK_AGAIN, prompt: askAgain(unanswered) }, goOn];
  const again = asked ? [{ name: messages.RETRY, prompt: asked }] : [];
  return isToRetry ? [...again, goOn] : [goOn, ...again];
}
