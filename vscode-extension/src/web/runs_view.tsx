/**
 * Runs as a list, and one run with the whole of what it asks.
 *
 * Knows: what of a run is shown. Does not know: where runs are kept.
 */

import { useEffect, useState } from "preact/hooks";

import type { RunsListRun, RunsShowQuestion } from "../acp/own";
import * as messages from "../messages/web";
import { Diff } from "../webview/diff";
import { whenOf } from "../webview/past_times";
import { split } from "../webview/paths";
import { useValue } from "./observable";
import type { Runs } from "./runs";

const REFRESH_MS = 4000;
const ENDED: readonly string[] = ["done", "failed", "stopped"];

interface Props {
  readonly runs: Runs;
  /** Open the session that a run works in. */
  readonly onSession: (sessionId: string, cwd: string) => void;
}

export function RunsView({ runs, onSession }: Props) {
  const { runs: all, isDriven, open, questions, problem } = useValue(runs.shown);
  useEffect(() => {
    void runs.look("");
    const timer = setInterval(() => void runs.refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [runs]);
  const shown = all.find(({ id }) => id === open);
  return (
    <div class="overlay-body">
      {problem && (
        <p class="refusal" role="alert">
          {problem}
        </p>
      )}
      {!isDriven && <p class="runs-note">{messages.RUNS_NOT_DRIVEN}</p>}
      {shown ? (
        <One run={shown} questions={questions} runs={runs} onSession={onSession} />
      ) : (
        <List all={all} onLook={(id) => void runs.look(id)} />
      )}
    </div>
  );
}

function List({ all, onLook }: { all: readonly RunsListRun[]; onLook: (id: string) => void }) {
  if (all.length === 0) return <p class="runs-note">{messages.NO_RUNS}</p>;
  return (
    <ul class="folder-list">
      {all.map(({ id, state, prompt, cwd, updatedAt }) => (
        <li key={id}>
          <button type="button" class="run-row" onClick={() => onLook(id)}>
            <span class="run-prompt">{prompt.split("\n")[0] || id}</span>
            <span class={`run-facts ${state}`}>
              {messages.runFacts(messages.RUN_STATES[state], split(cwd).name, whenOf(updatedAt))}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function One({
  run,
  questions,
  runs,
  onSession,
}: Props & { run: RunsListRun; questions: readonly RunsShowQuestion[] }) {
  const { id, state, prompt, sentence, sessionId, cwd, updatedAt } = run;
  return (
    <>
      <button type="button" class="link" onClick={() => void runs.look("")}>
        {messages.ALL_RUNS}
      </button>
      <p class="run-whole">{prompt}</p>
      <p class={`run-facts ${state}`}>{messages.runFacts(messages.RUN_STATES[state], cwd, whenOf(updatedAt))}</p>
      {sentence && <p class="overlay-words">{sentence}</p>}
      {questions.map((question) => (
        <Question key={question.callId} id={id} question={question} runs={runs} cwd={cwd} />
      ))}
      <div class="overlay-actions">
        <button type="button" class="button quiet" onClick={() => onSession(sessionId, cwd)}>
          {messages.OPEN_RUN_SESSION}
        </button>
        {!ENDED.includes(state) && (
          <button type="button" class="button quiet" onClick={() => void runs.stop(id)}>
            {messages.STOP_RUN}
          </button>
        )}
      </div>
    </>
  );
}

interface QuestionProps {
  readonly id: string;
  readonly question: RunsShowQuestion;
  readonly runs: Runs;
  readonly cwd: string;
}

/** A question with everything that an answer would let happen, to its end. */
function Question({ id, question, runs, cwd }: QuestionProps) {
  const [text, setText] = useState("");
  const { callId, title, why, isForText, choices, input, diffs } = question;
  const answer = (isAllowed: boolean, words = text) => void runs.answer(id, callId, isAllowed, words.trim());
  return (
    <section class="run-question" role="group" aria-label={title}>
      <h3>{title}</h3>
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
        <div class="overlay-actions">
          {choices.map((choice) => (
            <button key={choice} type="button" class="button quiet" onClick={() => answer(true, choice)}>
              {choice}
            </button>
          ))}
        </div>
      )}
      <label>
        {isForText ? messages.RUN_ANSWER : messages.RUN_COMMENT}
        <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="overlay-actions">
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
