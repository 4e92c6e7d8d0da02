/** A question of a run, with the full text of what an answer would allow. */

import { useState } from "preact/hooks";

import type { RunsShowQuestion } from "../../acp/own";
import * as messages from "../../messages/work";
import { Diff } from "../diff";

interface Props {
  readonly question: RunsShowQuestion;
  readonly cwd: string;
  readonly onAnswer: (isAllowed: boolean, text: string) => void;
}

export function QuestionView({ question, cwd, onAnswer }: Props) {
  const [text, setText] = useState("");
  const { title, why, isForText, choices, input, diffs } = question;
  const answer = (isAllowed: boolean, words = text) => onAnswer(isAllowed, words.trim());
  return (
    <section class="work-question" role="group" aria-label={title}>
      <h2>{title}</h2>
      {input && <pre tabIndex={0}>{input}</pre>}
      {diffs.map(({ path, oldText, newText }) => (
        <Diff
          key={path}
          sessionId=""
          callId=""
          diff={{ path, oldText: oldText ?? null, newText }}
          verdicts={[]}
          isMade
          canJudge={false}
          roots={[cwd]}
          isWhole
        />
      ))}
      {why && <p>{why}</p>}
      {choices.length > 0 && (
        <div class="work-actions">
          {choices.map((choice) => (
            <button key={choice} type="button" class="button quiet" onClick={() => answer(true, choice)}>
              {choice}
            </button>
          ))}
        </div>
      )}
      <label class="work-field">
        {isForText ? messages.RUN_ANSWER : messages.RUN_COMMENT}
        <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="work-actions">
        <button type="button" class="button primary" disabled={isForText && !text.trim()} onClick={() => answer(true)}>
          {isForText ? messages.SEND_ANSWER : messages.ALLOW_ONCE}
        </button>
        <button type="button" class="button quiet" onClick={() => answer(false)}>
          {isForText ? messages.DISMISS : messages.REJECT}
        </button>
      </div>
    </section>
  );
}
