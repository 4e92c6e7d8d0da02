/** Labelled fields of forms. */

import type { ComponentChildren } from "preact";

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly example?: string;
  readonly mode?: "decimal" | "numeric";
  readonly onText: (value: string) => void;
  readonly children?: ComponentChildren;
}

export function TextField({ label, value, example = "", mode, onText, children }: TextProps) {
  return (
    <label class="work-field">
      {label}
      <input
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        inputMode={mode}
        placeholder={example}
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {children}
    </label>
  );
}

interface AreaProps {
  readonly label: string;
  readonly value: string;
  readonly rows?: number;
  readonly onText: (value: string) => void;
}

export function AreaField({ label, value, rows = 4, onText }: AreaProps) {
  return (
    <label class="work-field">
      {label}
      <textarea rows={rows} value={value} onInput={(event) => onText(event.currentTarget.value)} />
    </label>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: Readonly<Record<T, string>>;
  readonly onChoice: (value: T) => void;
}

export function ChoiceField<T extends string>({ label, value, choices, onChoice }: ChoiceProps<T>) {
  return (
    <label class="work-field">
      {label}
      <select value={value} onChange={(event) => onChoice(event.currentTarget.value as T)}>
        {Object.entries<string>(choices).map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Read an amount of money; undefined for none. */
export function amountIn(text: string): number | undefined {
  const amount = Number.parseFloat(text.replace(",", "."));
  return amount > 0 ? amount : undefined;
}
