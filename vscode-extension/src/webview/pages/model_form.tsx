/**
 * The form for a provider, its key and a model, with a test before anything is stored.
 *
 * The key is only in the field, and is cleared once it is stored.
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
  const [url, setUrl] = useState<string>();
  const [key, setKey] = useState("");
  const [model, setModel] = useState("");
  const provider = status.providers.find((each) => each.name === name);
  const save = (answers: Answers) => {
    post({ type: "save", answers });
    setKey("");
    onSave();
  };
  const test = useTest(trial, save);
  if (!provider) return null;
  const answers: Answers = { provider: name, baseUrl: url ?? provider.baseUrl, apiKey: key, model };
  const choose = (chosen: string) => {
    setName(chosen);
    setUrl(undefined);
    setKey("");
    setModel("");
  };
  return (
    <form
      class="setup-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (trial.phase !== "running") test(answers);
      }}
    >
      <ProviderField status={status} name={name} onChoose={choose} />
      <Fields provider={provider} status={status} answers={answers} onUrl={setUrl} onKey={setKey} />
      <ModelField trial={trial} model={model} usual={provider.model} onModel={setModel} />
      <Outcome trial={trial} />
      <Buttons trial={trial} onSaveAnyway={() => save(answers)} />
    </form>
  );
}

/** Return the function that tests the answers. Working answers are saved as tested, even if the fields have changed since. */
function useTest(trial: Trial, save: (answers: Answers) => void): (answers: Answers) => void {
  const [isSaving, setSaving] = useState(false);
  const sent = useRef<Answers | undefined>(undefined);
  useEffect(() => {
    if (!isSaving || trial.phase === "running" || trial.phase === "idle" || !sent.current) return;
    setSaving(false);
    if (trial.phase === "done" && trial.isWorking) save({ ...sent.current, model: trial.model });
  }, [trial]);
  return (answers) => {
    sent.current = answers;
    setSaving(true);
    post({ type: "check", answers });
  };
}

interface ProviderFieldProps {
  readonly status: SetupStatusResult;
  readonly name: string;
  readonly onChoose: (name: string) => void;
}

function ProviderField({ status, name, onChoose }: ProviderFieldProps) {
  return (
    <label>
      {messages.PROVIDER}
      <select value={name} onChange={(event) => onChoose(event.currentTarget.value)}>
        {status.providers.map((each) => (
          <option key={each.name} value={each.name}>
            {each.label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ModelFieldProps {
  readonly trial: Trial;
  readonly model: string;
  readonly usual: string;
  readonly onModel: (model: string) => void;
}

function ModelField({ trial, model, usual, onModel }: ModelFieldProps) {
  const models = trial.phase === "done" ? trial.models : [];
  return (
    <>
      <label>
        {messages.MODEL}
        <input
          value={model}
          list="models"
          placeholder={usual}
          aria-describedby="model-hint"
          onInput={(event) => onModel(event.currentTarget.value)}
        />
      </label>
      <datalist id="models">
        {models.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <p class="entry-quiet" id="model-hint">
        {models.length > 0 ? messages.modelsFound(models.length) : messages.MODEL_HINT}
      </p>
    </>
  );
}

function Buttons({ trial, onSaveAnyway }: { trial: Trial; onSaveAnyway: () => void }) {
  const isRunning = trial.phase === "running";
  return (
    <div class="entry-actions">
      <button type="submit" class="button primary" aria-disabled={isRunning}>
        {isRunning ? messages.TESTING : messages.TEST_AND_SAVE}
      </button>
      {trial.phase === "done" && !trial.isWorking && (
        <button type="button" class="button" onClick={onSaveAnyway}>
          {messages.SAVE_ANYWAY}
        </button>
      )}
    </div>
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
