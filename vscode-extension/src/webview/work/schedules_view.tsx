/** Schedules with their full prompts, and the outcomes of their due times. */

import { useState } from "preact/hooks";

import type { SchedulesHistoryOccurrence, SchedulesListSchedule } from "../../acp/own";
import * as messages from "../../messages/work";
import type { SchedulesAction, SchedulesShown } from "../../work/schedules";
import { Problem } from "./problem";
import { ScheduleForm } from "./schedule_form";
import { timeOf } from "./times";

interface Props {
  readonly shown: SchedulesShown;
  readonly act: (action: SchedulesAction) => void;
  /** The folder that a new schedule most likely works in. */
  readonly folder: string;
}

export function SchedulesView({ shown, act, folder }: Props) {
  const { schedules, isDriven, open, history, problem } = shown;
  return (
    <div class="work">
      <Problem text={problem} note={isDriven ? "" : messages.NOT_DRIVEN} />
      {schedules.length === 0 && <p class="work-note">{messages.NO_SCHEDULES}</p>}
      {schedules.map((each) => (
        <One key={each.id} schedule={each} history={each.id === open ? history : undefined} act={act} />
      ))}
      <ScheduleForm key={shown.added} shown={shown} act={act} folder={folder} />
    </div>
  );
}

interface OneProps {
  readonly schedule: SchedulesListSchedule;
  readonly history: readonly SchedulesHistoryOccurrence[] | undefined;
  readonly act: Props["act"];
}

function One({ schedule, history, act }: OneProps) {
  const [isRemoving, setRemoving] = useState(false);
  const { id, when, prompt, cwd, isPaused, nextAt, origin } = schedule;
  const next = isPaused ? messages.PAUSED : nextAt ? messages.nextDue(timeOf(nextAt)) : messages.NEVER_AGAIN;
  const change = (action: "pause" | "resume" | "remove" | "runNow") => act({ type: "change", id, action });
  return (
    <section class="work-card" aria-label={id}>
      <h2>{id}</h2>
      <p class={`work-facts ${isPaused ? "paused" : ""}`}>{messages.facts(when, next)}</p>
      <p class="work-whole">{prompt || messages.PROMPT_GONE}</p>
      <p class="work-facts">{messages.facts(messages.scheduledIn(cwd), messages.addedBy(origin))}</p>
      {isRemoving ? (
        <div class="work-confirm" role="group" aria-label={messages.removeSchedule(id)}>
          <p>{messages.removeSchedule(id)}</p>
          <Action name={messages.REMOVE} of={id} isPrimary onClick={() => change("remove")} />
          <Action name={messages.KEEP} of={id} onClick={() => setRemoving(false)} />
        </div>
      ) : (
        <div class="work-actions">
          {isPaused ? (
            <Action name={messages.RESUME} of={id} onClick={() => change("resume")} />
          ) : (
            <Action name={messages.PAUSE} of={id} onClick={() => change("pause")} />
          )}
          <Action name={messages.RUN_NOW} of={id} onClick={() => change("runNow")} />
          <Action
            name={messages.HISTORY}
            of={id}
            isExpanded={history !== undefined}
            onClick={() => act({ type: "look", id: history ? "" : id })}
          />
          <Action name={messages.REMOVE} of={id} onClick={() => setRemoving(true)} />
        </div>
      )}
      {history && <History history={history} />}
    </section>
  );
}

interface ActionProps {
  readonly name: string;
  readonly of: string;
  readonly isPrimary?: boolean;
  readonly isExpanded?: boolean;
  readonly onClick: () => void;
}

function Action({ name, of, isPrimary = false, isExpanded, onClick }: ActionProps) {
  return (
    <button
      type="button"
      class={`button ${isPrimary ? "primary" : "quiet"}`}
      aria-label={messages.named(name, of)}
      aria-expanded={isExpanded}
      onClick={onClick}
    >
      {name}
    </button>
  );
}

function History({ history }: { history: readonly SchedulesHistoryOccurrence[] }) {
  if (history.length === 0) return <p class="work-note">{messages.NO_HISTORY}</p>;
  return (
    <ul class="work-history">
      {history.map(({ dueAt, until, count, fate, runId }) => (
        <li key={`${dueAt} ${fate}`} class={fate}>
          {messages.facts(messages.occurrence(timeOf(dueAt), timeOf(until), count), messages.FATES[fate], runId)}
        </li>
      ))}
    </ul>
  );
}
