/** The agent's own question: a form to fill in, or a page to open. */

import { useState } from "preact/hooks";

import * as messages from "../messages/conversation";
import type { QuestionField, QuestionItem } from "../state/terms";
import { post } from "./bridge";

type Value = string | number | boolean;

export function QuestionCard({ item }: { item: QuestionItem }) {
  const [values, setValues] = useState<Readonly<Record<string, Value>>>({});
  if (item.answer !== undefined) {
    return (
      <section role="group" class="card" aria-label={item.text}>
        <div class="question-text">{item.text}</div>
        <div class={`answered ${item.answer ? "yes" : "no"}`}>{item.answer || messages.NOT_ANSWERED}</div>
      </section>
    );
  }
  const isWhole = item.fields.every((field) => !field.isRequired || (values[field.name] ?? "") !== "");
  const reply = (content: Readonly<Record<string, Value>> | null) => post({ type: "reply", id: item.id, content });
  return (
    <section role="group" class="card asking" aria-label={messages.questionLabel(item.text)}>
      <form
        class="question"
        onSubmit={(event) => {
          event.preventDefault();
          if (item.url) post({ type: "browse", url: item.url });
          if (isWhole) reply(values);
        }}
      >
        <div class="question-text">{item.text}</div>
        {item.url && <code class="question-url">{item.url}</code>}
        {item.fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={values[field.name]}
            onValue={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
        <div class="approval-options">
          <button type="submit" class="button primary" disabled={!isWhole}>
            {item.url ? messages.OPEN_PAGE : messages.ANSWER}
          </button>
          <button type="button" class="button quiet" onClick={() => reply(null)}>
            {messages.DISMISS}
          </button>
        </div>
      </form>
    </section>
  );
}

interface FieldProps {
  readonly field: QuestionField;
  readonly value: Value | undefined;
  readonly onValue: (value: Value) => void;
}

function Field({ field, value, onValue }: FieldProps) {
  if (field.kind === "boolean") {
    return (
      <label class="field-check">
        <input type="checkbox" checked={value === true} onChange={(event) => onValue(event.currentTarget.checked)} />{" "}
        {field.title}
      </label>
    );
  }
  if (field.kind === "choice") {
    return (
      <fieldset class="field-choices">
        <legend>{field.title}</legend>
        {field.choices.map((choice) => (
          <label key={choice}>
            <input type="radio" name={field.name} checked={value === choice} onChange={() => onValue(choice)} />{" "}
            {choice}
          </label>
        ))}
      </fieldset>
    );
  }
  return (
    <label class="field">
      <span>{field.title}</span>
      {field.kind === "number" ? (
        <input
          type="number"
          value={String(value ?? "")}
          onInput={(event) => onValue(event.currentTarget.valueAsNumber)}
        />
      ) : (
        <input type="text" value={String(value ?? "")} onInput={(event) => onValue(event.currentTarget.value)} />
      )}
    </label>
  );
}
