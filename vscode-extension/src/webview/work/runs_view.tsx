/** Waiting items, the list of runs, and one run with its full questions. */

import type { RunsListRun, WaitingListWaiting } from "../../acp/own";
import * as messages from "../../messages/work";
import type { RunsAction, RunsShown } from "../../work/runs";
import { whenOf } from "../past_times";
import { split } from "../paths";
import { Problem } from "./problem";
import { QuestionView } from "./question_view";

const ENDED: readonly string[] = ["done", "failed", "stopped"];

interface Props {
  readonly shown: RunsShown;
  readonly act: (action: RunsAction) => void;
}

export function RunsView({ shown, act }: Props) {
  const { runs, waiting, isDriven, open, problem } = shown;
  const run = runs.find(({ id }) => id === open);
  return (
    <div class="work">
      <Problem text={problem} note={isDriven ? "" : messages.NOT_DRIVEN} />
      {run ? (
        <One run={run} shown={shown} act={act} />
      ) : (
        <>
          {waiting.length > 0 && <Waiting waiting={waiting} act={act} />}
          {waiting.length > 0 && <h2>{messages.ALL_RUNS}</h2>}
          <List runs={runs} act={act} />
        </>
      )}
    </div>
  );
}

function Waiting({ waiting, act }: { waiting: readonly WaitingListWaiting[]; act: Props["act"] }) {
  const open = ({ kind, id, sessionId, cwd }: WaitingListWaiting) =>
    act(kind === "run" ? { type: "look", id } : { type: "openSession", sessionId, cwd });
  return (
    <>
      <h2>{messages.WAITING}</h2>
      <ul class="work-list">
        {waiting.map((each) => (
          <li key={`${each.kind} ${each.id}`}>
            <button type="button" class="work-row" onClick={() => open(each)}>
              <span class="work-title">{each.title || messages.UNTITLED}</span>
              {each.questions.map((question, at) => (
                <span key={at} class="work-asked">
                  {question}
                </span>
              ))}
              <span class="work-facts">
                {messages.facts(messages.WAITING_KINDS[each.kind], split(each.cwd).name, whenOf(each.updatedAt))}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function List({ runs, act }: { runs: readonly RunsListRun[]; act: Props["act"] }) {
  if (runs.length === 0) return <p class="work-note">{messages.NO_RUNS}</p>;
  return (
    <ul class="work-list">
      {runs.map(({ id, state, prompt, cwd, updatedAt }) => (
        <li key={id}>
          <button type="button" class="work-row" onClick={() => act({ type: "look", id })}>
            <span class="work-title">{prompt.split("\n")[0] || id}</span>
            <span class={`work-facts ${state}`}>
              {messages.facts(messages.RUN_STATES[state], split(cwd).name, whenOf(updatedAt))}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function One({ run, shown, act }: Props & { run: RunsListRun }) {
  const { id, state, prompt, sentence, sessionId, cwd, updatedAt } = run;
  return (
    <>
      <button type="button" class="link" onClick={() => act({ type: "look", id: "" })}>
        {messages.ALL_RUNS}
      </button>
      <p class="work-whole">{prompt}</p>
      <p class={`work-facts ${state}`}>{messages.facts(messages.RUN_STATES[state], cwd, whenOf(updatedAt))}</p>
      {sentence && <p class="work-whole">{sentence}</p>}
      {shown.questions.map((question) => (
        <QuestionView
          key={question.callId}
          question={question}
          cwd={cwd}
          onAnswer={(isAllowed, text) => act({ type: "answer", id, callId: question.callId, isAllowed, text })}
        />
      ))}
      <div class="work-actions">
        <button type="button" class="button quiet" onClick={() => act({ type: "openSession", sessionId, cwd })}>
          {messages.OPEN_SESSION}
        </button>
        {!ENDED.includes(state) && (
          <button type="button" class="button quiet" onClick={() => act({ type: "stop", id })}>
            {messages.STOP_RUN}
          </button>
        )}
      </div>
    </>
  );
}
