/** A new schedule: filled in, checked by the server, and added once its whole prompt and times were read. */

import { useState } from "preact/hooks";

import type { SchedulesAddParams } from "../../acp/own";
import * as messages from "../../messages/work";
import type { SchedulesAction, SchedulesShown } from "../../work/schedules";
import { amountIn, AreaField, ChoiceField, TextField } from "./fields";
import { timeOf } from "./times";

interface Props {
  readonly shown: SchedulesShown;
  readonly act: (action: SchedulesAction) => void;
  readonly folder: string;
}

interface Fields {
  readonly prompt: string;
  readonly folder: string;
  readonly name: string;
  readonly isOnce: boolean;
  readonly cron: string;
  readonly at: string;
  readonly tz: string;
  readonly late: "once" | "skip";
  readonly overlap: "skip" | "queue" | "cancel";
  readonly cost: string;
}

export function ScheduleForm({ shown, act, folder }: Props) {
  const [fields, setFields] = useState<Fields>({
    prompt: "",
    folder,
    name: "",
    isOnce: false,
    cron: "",
    at: "",
    tz: "",
    late: "once",
    overlap: "skip",
    cost: "",
  });
  if (shown.trial) return <Checked trial={shown.trial} act={act} />;
  const change = (changes: Partial<Fields>) => setFields({ ...fields, ...changes });
  return (
    <form
      class="work-form"
      aria-label={messages.ADD_SCHEDULE}
      onSubmit={(event) => {
        event.preventDefault();
        act({ type: "try", wish: wishOf(fields) });
      }}
    >
      <h2>{messages.ADD_SCHEDULE}</h2>
      <AreaField label={messages.PROMPT} value={fields.prompt} onText={(prompt) => change({ prompt })} />
      <TextField label={messages.FOLDER} value={fields.folder} onText={(value) => change({ folder: value })} />
      <TextField label={messages.SCHEDULE_NAME} value={fields.name} onText={(value) => change({ name: value })} />
      <Times fields={fields} tz={shown.tz} change={change} />
      <Policies fields={fields} change={change} />
      <TextField
        label={messages.MAX_COST}
        value={fields.cost}
        onText={(value) => change({ cost: value })}
        mode="decimal"
      />
      <div class="work-actions">
        <button type="submit" class="button primary" disabled={!fields.prompt.trim()}>
          {messages.CHECK_SCHEDULE}
        </button>
      </div>
    </form>
  );
}

function wishOf({ prompt, folder, name, isOnce, cron, at, tz, late, overlap, cost }: Fields): SchedulesAddParams {
  const max = amountIn(cost);
  return {
    prompt,
    cwd: folder.trim(),
    name: name.trim(),
    ...(isOnce ? { at } : { cron }),
    tz,
    late,
    overlap,
    ...(max ? { maxCostUsd: max } : {}),
  };
}

/** What the server understood, with the whole prompt, to be confirmed. */
function Checked({ trial, act }: { trial: NonNullable<SchedulesShown["trial"]>; act: Props["act"] }) {
  const { wish, result } = trial;
  return (
    <section class="work-confirm" role="group" aria-label={messages.ADD_SCHEDULE}>
      <h2>{messages.ADD_SCHEDULE}</h2>
      <p>{messages.checkedDue(result.when, timeOf(result.nextAt))}</p>
      <pre tabIndex={0}>{wish.prompt}</pre>
      <p class="work-facts">{messages.scheduledIn(wish.cwd)}</p>
      <div class="work-actions">
        <button type="button" class="button primary" onClick={() => act({ type: "add", wish })}>
          {messages.ADD_THIS}
        </button>
        <button type="button" class="button quiet" onClick={() => act({ type: "leave" })}>
          {messages.CHANGE_IT}
        </button>
      </div>
    </section>
  );
}

type Change = (changes: Partial<Fields>) => void;

function Times({ fields, tz, change }: { fields: Fields; tz: string; change: Change }) {
  return (
    <>
      <ChoiceField
        label={messages.REPEATS}
        value={fields.isOnce ? "once" : "cron"}
        choices={{ cron: messages.REPEATS_CRON, once: messages.REPEATS_ONCE }}
        onChoice={(value) => change({ isOnce: value === "once" })}
      />
      {fields.isOnce ? (
        <label class="work-field">
          {messages.AT}
          <input
            type="datetime-local"
            value={fields.at}
            onInput={(event) => change({ at: event.currentTarget.value })}
          />
        </label>
      ) : (
        <TextField
          label={messages.CRON}
          value={fields.cron}
          example={messages.CRON_EXAMPLE}
          onText={(value) => change({ cron: value })}
        >
          <span class="work-facts">{messages.CRON_HINT}</span>
        </TextField>
      )}
      <TextField label={messages.TIME_ZONE} value={fields.tz} example={tz} onText={(value) => change({ tz: value })} />
    </>
  );
}

function Policies({ fields, change }: { fields: Fields; change: Change }) {
  return (
    <>
      <ChoiceField
        label={messages.LATE}
        value={fields.late}
        choices={messages.LATE_CHOICES}
        onChoice={(late) => change({ late })}
      />
      <ChoiceField
        label={messages.OVERLAP}
        value={fields.overlap}
        choices={messages.OVERLAP_CHOICES}
        onChoice={(overlap) => change({ overlap })}
      />
    </>
  );
}
