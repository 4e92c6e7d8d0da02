/** A card to be added or changed. */

import { useState } from "preact/hooks";

import type { BoardAddParams, BoardListCard, BoardShowResult } from "../../acp/own";
import * as messages from "../../messages/board";
import { amountIn, AreaField, ChoiceField, TextField } from "./fields";

interface Fields {
  readonly title: string;
  readonly text: string;
  readonly folder: string;
  readonly priority: string;
  readonly cost: string;
  readonly checks: string;
  readonly worktree: "own" | "same";
  readonly to: "inbox" | "ready";
  readonly blockers: string;
}

interface Props {
  readonly folder: string;
  /** The card that is changed; without it, one is added. */
  readonly card?: { readonly listed: BoardListCard; readonly details: BoardShowResult };
  readonly onSave: (wish: BoardAddParams) => void;
  readonly onLeave?: () => void;
}

export function CardForm({ folder, card, onSave, onLeave }: Props) {
  const [fields, setFields] = useState<Fields>(() => fieldsOf(folder, card));
  function change(changes: Partial<Fields>) {
    setFields({ ...fields, ...changes });
  }
  return (
    <form
      class="work-form"
      aria-label={card ? messages.EDIT : messages.ADD_CARD}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(wishOf(fields));
      }}
    >
      <TextField label={messages.TITLE} value={fields.title} onText={(title) => change({ title })} />
      <AreaField label={messages.CARD_TEXT} value={fields.text} onText={(text) => change({ text })} />
      <TextField label={messages.FOLDER} value={fields.folder} onText={(value) => change({ folder: value })} />
      <ChoiceField
        label={messages.WORKTREE}
        value={fields.worktree}
        choices={messages.WORKTREES}
        onChoice={(worktree) => change({ worktree })}
      />
      <TextField
        label={messages.PRIORITY}
        value={fields.priority}
        mode="numeric"
        onText={(priority) => change({ priority })}
      />
      <TextField label={messages.MAX_COST} value={fields.cost} mode="decimal" onText={(cost) => change({ cost })} />
      <AreaField label={messages.CHECKS} rows={2} value={fields.checks} onText={(checks) => change({ checks })} />
      {!card && <Beginning fields={fields} change={change} />}
      <div class="work-actions">
        <button type="submit" class="button primary" disabled={!fields.title.trim()}>
          {card ? messages.SAVE : messages.ADD}
        </button>
        {onLeave && (
          <button type="button" class="button quiet" onClick={onLeave}>
            {messages.CANCEL}
          </button>
        )}
      </div>
    </form>
  );
}

/** What is said only of a card that is new. */
function Beginning({ fields, change }: { fields: Fields; change: (changes: Partial<Fields>) => void }) {
  return (
    <>
      <TextField label={messages.BLOCKERS} value={fields.blockers} onText={(blockers) => change({ blockers })} />
      <ChoiceField
        label={messages.FIRST_STATE}
        value={fields.to}
        choices={messages.FIRST_STATES}
        onChoice={(to) => change({ to })}
      />
    </>
  );
}

function fieldsOf(folder: string, card: Props["card"]): Fields {
  const { listed, details } = card ?? {};
  return {
    title: listed?.title ?? "",
    text: details?.text ?? "",
    folder: details?.folder ?? folder,
    priority: String(details?.priority ?? 3),
    cost: details?.maxCostUsd ? String(details.maxCostUsd) : "",
    checks: (details?.checks ?? []).join("\n"),
    worktree: details?.worktree ?? "own",
    to: "inbox",
    blockers: "",
  };
}

function wishOf({ title, text, folder, priority, cost, checks, worktree, to, blockers }: Fields): BoardAddParams {
  return {
    title: title.trim(),
    text,
    folder: folder.trim(),
    worktree,
    priority: Number.parseInt(priority, 10) || 3,
    maxCostUsd: amountIn(cost) ?? null,
    checks: checks.split("\n").filter((line) => line.trim()),
    to,
    blockedBy: blockers.match(/\d+/g) ?? [],
  };
}
