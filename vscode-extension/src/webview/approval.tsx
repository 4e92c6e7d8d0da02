/** The question on a card: the agent's own options, and a comment for a rejection. */

import { useState } from "preact/hooks";

import * as messages from "../messages/conversation";
import type { AnswerOption, Approval as Question, Verdict } from "../state/terms";
import { post } from "./bridge";
import { readable } from "./paths";
import { isOnce, receiptOf } from "./receipts";

interface Props {
  /** Whether the whole request was on the screen. Before that, it cannot be allowed. */
  readonly isSeen: boolean;
  readonly approval: Question;
  readonly roots: readonly string[];
  /** The verdicts on the hunks of its changes. */
  readonly verdicts: readonly Verdict[];
}

export function Approval({ isSeen, approval, roots, verdicts }: Props) {
  const [comment, setComment] = useState("");
  const [areMore, setMore] = useState(false);
  if (approval.answer !== undefined) return <Answered approval={approval} verdicts={verdicts} roots={roots} />;
  const [short, lasting] = [isOnce, (option: AnswerOption) => !isOnce(option)].map((is) => approval.options.filter(is));
  const { requestId } = approval;
  const answer = (option: string) => post({ type: "answer", requestId, option, comment: comment.trim() });
  const isBarred = ({ kind }: AnswerOption) => kind.startsWith("allow") && !isSeen;
  const no = approval.options.find((each) => each.kind === "reject_once");
  return (
    <div
      class={`approval ${approval.isWarning ? "warning" : ""}`}
      role="group"
      aria-label={messages.PERMISSION_QUESTION}
    >
      <Reason approval={approval} />
      <div class="approval-options">
        {short?.map((option) => (
          <button
            key={option.id}
            type="button"
            class={classOf(option)}
            data-kind={option.kind}
            disabled={isBarred(option)}
            title={isBarred(option) ? messages.READ_TEXT_FIRST : titleOf(option)}
            onClick={() => answer(option.id)}
          >
            {option === no && comment.trim() ? messages.REJECT_WITH_REASON : option.name}
          </button>
        ))}
        {lasting && lasting.length > 0 && (
          <button
            type="button"
            class="button quiet more"
            aria-expanded={areMore}
            aria-label={messages.LASTING_ANSWERS}
            title={messages.LASTING_ANSWERS}
            onClick={() => setMore(!areMore)}
          >
            <i class={`codicon codicon-chevron-${areMore ? "up" : "down"}`} />
          </button>
        )}
      </div>
      {areMore && <Lasting options={lasting ?? []} isBarred={isBarred} answer={answer} roots={roots} />}
      {no && (
        <input
          class="approval-comment"
          type="text"
          value={comment}
          placeholder={messages.REJECT_REASON_HINT}
          aria-label={messages.REJECT_REASON}
          onInput={(event) => setComment(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && comment.trim()) answer(no.id);
          }}
        />
      )}
    </div>
  );
}

const Reason = ({ approval }: { readonly approval: Question }) =>
  approval.reason ? (
    <div class="approval-reason">
      {approval.isWarning && <i class="codicon codicon-warning" role="img" aria-label={messages.WARNING} />}
      {approval.reason}
    </div>
  ) : null;

interface LastingProps {
  readonly options: readonly AnswerOption[];
  readonly isBarred: (option: AnswerOption) => boolean;
  readonly answer: (optionId: string) => void;
  readonly roots: readonly string[];
}

/** Answers that also apply to later calls. */
function Lasting({ options, isBarred, answer, roots }: LastingProps) {
  return (
    <div class="approval-lasting">
      {options.map((option) => (
        <button
          key={option.id}
          type="button"
          class="lasting"
          disabled={isBarred(option)}
          onClick={() => answer(option.id)}
        >
          <i class={`codicon codicon-${option.kind.startsWith("allow") ? "check-all" : "circle-slash"}`} />{" "}
          {readable({ title: option.name, kind: "edit" }, roots)}
        </button>
      ))}
    </div>
  );
}

function classOf({ kind }: AnswerOption): string {
  if (kind === "allow_once") return "button primary";
  return kind.startsWith("reject") ? "button quiet" : "button";
}

/** Return the name of an answer with its key, for the answers that have one. */
function titleOf({ kind, name }: AnswerOption): string | undefined {
  const keys = navigator.platform.startsWith("Mac") ? messages.MAC_ANSWER_KEYS : messages.ANSWER_KEYS;
  const key = kind === "allow_once" ? keys.allow : kind === "reject_once" ? keys.reject : "";
  return key ? messages.optionWithKey(name, key) : undefined;
}

interface AnsweredProps {
  readonly approval: Question;
  readonly verdicts: readonly Verdict[];
  readonly roots: readonly string[];
}

function Answered({ approval, verdicts, roots }: AnsweredProps) {
  const option = approval.options.find((each) => each.id === approval.answer);
  if (!option) return null;
  const isYes = option.kind.startsWith("allow");
  const name = readable({ title: option.name, kind: "edit" }, roots);
  return <Said isYes={isYes} words={receiptOf({ ...option, name }, verdicts, approval.comment ?? "")} />;
}

/** The user's answer and comment. */
export function Said({ isYes, words }: { isYes: boolean; words: string }) {
  return (
    <div class={`answered ${isYes ? "yes" : "no"}`}>
      <i class={`codicon codicon-${isYes ? "pass" : "circle-slash"}`} /> {words}
    </div>
  );
}
