/**
 * The form for a provider, its key and a model, with a test before anything is stored.
 *
 * Knows: what a provider needs. Does not know: what the test does. The key is in the field alone, and gone once it is stored.
 */

import { useEffect, useRef, useState } from "preact/hooks";

import type { SetupStatusProvider, SetupStatusResult } from "../../acp/own";
import * as messages from "../../messages/pages";
import type { Answers, SetupState, Trial } from "../../pages/protocol";
import { post } from "./bridge";

interface Props {
  readonly state: SetupState;
  readonly status: SetupStatusResult;
  readonly onSave: () => void;
}

export function ModelForm({ state: { trial }, status, onSave }: Props) {
  const held = status.providers.find(({ hasKey }) => hasKey)?.name;
  const [name, setName] = useState(status.provider || held || status.providers[0]?.name || "");
  const provider = status.providers.find((each) => each.name === name);
  const [url, setUrl] = useState<string>();
  const [key, setKey] = useState("");
  const [model, setModel] = useState("");
  const [isSaving, setSaving] = useState(false);
  const sent = useRef<Answers | undefined>(undefined);
  useEffect(() => {
    // The answers that were tested are stored, whatever the fields say by now.
    if (!isSaving || trial.phase === "running" || trial.phase === "idle" || !sent.current) return;
    setSaving(false);
    if (trial.phase !== "done" || !trial.isWorking) return;
    post({ type: "save", answers: { ...sent.current, model: trial.model } });
    setKey("");
    onSave();
  }, [trial]);
  if (!provider) return null;
  const answers: Answers = { provider: name, baseUrl: url ?? provider.baseUrl, apiKey: key, model };
  const test = () => {
    sent.current = answers;
    setSaving(true);
    post({ type: "check", answers });
  };
  const isRunning = trial.phase === "running";
  return (
    <form
      class="setup-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isRunning) test();
      }}
    >
      <label>
        {messages.PROVIDER}
        <select
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
            setUrl(undefined);
            setKey("");
            setModel("");
          }}
        >
          {status.providers.map((each) => (
            <option key={each.name} value={each.name}>
              {each.label}
            </option>
          ))}
        </select>
      </label>
      <Fields provider={provider} status={status} answers={answers} onUrl={setUrl} onKey={setKey} />
      <label>
        {messages.MODEL}
        <input
          value={model}
          list="models"
          placeholder={provider.model}
          aria-describedby="model-hint"
          onInput={(event) => setModel(event.currentTarget.value)}
        />
      </label>
      <datalist id="models">
        {trial.phase === "done" && trial.models.map((each) => <option key={each} value={each} />)}
      </datalist>
      <p class="entry-quiet" id="model-hint">
        {trial.phase === "done" && trial.models.length > 0
          ? messages.modelsFound(trial.models.length)
          : messages.MODEL_HINT}
      </p>
      <Outcome trial={trial} />
      <div class="entry-actions">
        <button type="submit" class="button primary" aria-disabled={isRunning}>
          {isRunning ? messages.TESTING : messages.TEST_AND_SAVE}
        </button>
        {trial.phase === "done" && !trial.isWorking && (
          <button
            type="button"
            class="button"
            onClick={() => {
              post({ type: "save", answers });
              setKey("");
              onSave();
            }}
          >
            {messages.SAVE_ANYWAY}
          </button>
        )}
      </div>
    </form>
  );
}

interface FieldsProps {
  readonly provider: SetupStatusProvider;
  readonly status: SetupStatusResult;
  readonly answers: Answers;
  readonly onUrl: (url: string) => void;
  readonly onKey: (key: string) => void;
}

function Fields({ provider, status, answers, onUrl, onKey }: FieldsProps) {
  const { keyVariable, hasKey } = provider;
  return (
    <>
      <label>
        {messages.BASE_URL}
        <input
          type="url"
          value={answers.baseUrl}
          placeholder={messages.URL_START}
          required={provider.needsUrl}
          onInput={(event) => onUrl(event.currentTarget.value)}
        />
      </label>
      {keyVariable && (
        <>
          <label>
            {messages.KEY}
            <input
              type="password"
              autocomplete="off"
              spellcheck={false}
              value={answers.apiKey}
              aria-describedby="key-hint"
              onInput={(event) => onKey(event.currentTarget.value)}
            />
          </label>
          <p class="entry-quiet" id="key-hint">
            {hasKey ? `${messages.keyHeld(keyVariable)} ` : ""}
            {messages.keyStored(status.secretsFile)}
          </p>
        </>
      )}
    </>
  );
}

function Outcome({ trial }: { trial: Trial }) {
  if (trial.phase === "refused")
    return (
      <p class="page-error" role="alert">
        {trial.text}
      </p>
    );
  if (trial.phase !== "done") return null;
  if (trial.isWorking)
    return (
      <p class="setup-good" role="status">
        {messages.works(trial.model)}
      </p>
    );
  return (
    <div class="page-error" role="alert">
      <p>{messages.doesNotWork(trial.model)}</p>
      <p>{trial.text}</p>
    </div>
  );
}
