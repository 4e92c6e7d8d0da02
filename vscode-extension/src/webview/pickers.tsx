/** The session's options as small pickers: mode, model and effort at hand, the rest behind a button. */

import { useState } from "preact/hooks";

import * as messages from "../messages/panel";
import type { Session } from "../state/session";
import type { Option, Usage } from "../state/terms";
import { post } from "./bridge";

const MIN_SHARE = 0.01;
const MEANWHILE = "during_turn";
const AT_HAND: readonly string[] = ["mode", "model", "thought_level"];

export function Pickers({ session, isTrusted }: { session: Session; isTrusted: boolean }) {
  const isWorking = session.turns.length > 0;
  const [areMore, setMore] = useState(false);
  const rank = (option: Option) => {
    // This option only matters while a turn is running.
    if (option.id === MEANWHILE && isWorking) return AT_HAND.length;
    return option.type === "select" ? AT_HAND.indexOf(option.category) : -1;
  };
  const near = session.options.filter((option) => rank(option) >= 0).sort((one, other) => rank(one) - rank(other));
  const far = session.options.filter((option) => rank(option) < 0);
  const set = (option: string, value: string | boolean) =>
    post({ type: "option", sessionId: session.id, option, value });
  return (
    <>
      {near.map((option) => (
        <Picker
          key={option.id}
          option={option}
          onValue={set}
          isFixed={!isTrusted && option.type === "select" && option.category === "mode"}
        />
      ))}
      {far.length > 0 && (
        <button
          type="button"
          class="icon-button"
          aria-expanded={areMore}
          aria-label={messages.MORE_OPTIONS}
          title={messages.MORE_OPTIONS}
          onClick={() => setMore(!areMore)}
        >
          <i class="codicon codicon-settings" />
        </button>
      )}
      {areMore && (
        <div class="more-options" role="group" aria-label={messages.MORE_OPTIONS}>
          {far.map((option) => (
            <label key={option.id} class="more-option">
              <span>{option.name}</span>
              <Picker option={option} onValue={set} isFixed={false} />
            </label>
          ))}
        </div>
      )}
    </>
  );
}

interface PickerProps {
  readonly option: Option;
  readonly isFixed: boolean;
  readonly onValue: (option: string, value: string | boolean) => void;
}

function Picker({ option, onValue, isFixed }: PickerProps) {
  if (option.type === "switch") {
    return (
      <input
        type="checkbox"
        checked={option.isOn}
        aria-label={option.name}
        onChange={(event) => onValue(option.id, event.currentTarget.checked)}
      />
    );
  }
  const chosen = option.choices.find((choice) => choice.value === option.value);
  return (
    <span
      class={`picker ${option.category}`}
      title={messages.optionTitle(option.name, chosen?.description || chosen?.name || option.value)}
    >
      <span class="picker-face" aria-hidden="true">
        {option.category === "thought_level" && <i class="codicon codicon-dashboard" />}
        {option.category !== "thought_level" || option.value !== "default" ? (
          <span class="picker-word">{chosen?.name ?? option.value}</span>
        ) : null}
        <i class="codicon codicon-chevron-down" />
      </span>
      <select
        value={option.value}
        disabled={isFixed}
        aria-label={option.name}
        onChange={(event) => onValue(option.id, event.currentTarget.value)}
      >
        {option.choices.map((choice) => (
          <option key={choice.value} value={choice.value} title={choice.description}>
            {choice.name}
          </option>
        ))}
      </select>
    </span>
  );
}

/** A placeholder until the agent has sent its options. */
export function ComingPickers() {
  return (
    <>
      {messages.COMING_OPTIONS.map((name) => (
        <span key={name} class="picker coming" aria-hidden="true">
          <span class="picker-face">
            <span class="picker-word">{name}</span>
            <i class="codicon codicon-chevron-down" />
          </span>
        </span>
      ))}
    </>
  );
}

export function Meter({ usage }: { usage: Usage | undefined }) {
  if (!usage || usage.size <= 0) return null;
  const share = Math.min(1, usage.used / usage.size);
  // An empty ring says nothing.
  if (share < MIN_SHARE && !usage.cost) return null;
  const cost = usage.cost === undefined ? "" : money(usage.cost, usage.currency ?? "USD");
  const words = messages.tokensUsed(thousands(usage.used), thousands(usage.size), Math.round(share * 100), cost);
  return (
    <span
      class={`meter ${share > 0.8 ? "full" : ""}`}
      role="img"
      aria-label={messages.contextLabel(words)}
      title={words}
    >
      <svg viewBox="0 0 16 16" width="14" height="14">
        <circle cx="8" cy="8" r="6" class="meter-whole" />
        <circle
          cx="8"
          cy="8"
          r="6"
          class="meter-used"
          pathLength="100"
          stroke-dasharray={`${share * 100} 100`}
          transform="rotate(-90 8 8)"
        />
      </svg>
      {usage.cost !== undefined && <span>{money(usage.cost, usage.currency ?? "USD")}</span>}
    </span>
  );
}

function thousands(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}

function money(amount: number, currency: string): string {
  return new Intl.NumberFormat("en", { style: "currency", currency, maximumFractionDigits: amount < 1 ? 3 : 2 }).format(
    amount,
  );
}
