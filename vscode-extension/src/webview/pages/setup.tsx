/** The page that guides the user to a working model. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { SetupStatusResult } from "../../acp/own";
import * as messages from "../../messages/pages";
import type { SetupState } from "../../pages/protocol";
import { post } from "./bridge";
import { ModelForm } from "./model_form";

export function SetupPage({ state }: { state: SetupState }) {
  const { status, saved } = state;
  const isServerReady = state.server.phase === "ready";
  const isModelReady = isServerReady && status?.isReady === true;
  const [isChanging, setChanging] = useState(false);
  return (
    <div class="setup">
      <h1>{isModelReady ? messages.MODELS_TITLE : messages.SETUP_TITLE}</h1>
      {!isModelReady && <p>{messages.SETUP_INTRODUCTION}</p>}
      <Step title={messages.STEP_SERVER} isDone={isServerReady}>
        <Server state={state} />
      </Step>
      <Step title={messages.STEP_MODEL} isDone={isModelReady}>
        {isServerReady && !status && <p>{messages.OLD_SERVER}</p>}
        {isServerReady && status && (
          <>
            <Present status={status} />
            {saved && (
              <p class="setup-good" role="status">
                {saved.note}
              </p>
            )}
            {isModelReady && !isChanging ? (
              <button type="button" class="button" onClick={() => setChanging(true)}>
                {messages.CHANGE_MODEL}
              </button>
            ) : (
              <ModelForm state={state} status={status} onSave={() => setChanging(false)} />
            )}
          </>
        )}
      </Step>
      {isModelReady && <Ready state={state} />}
    </div>
  );
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ComponentChildren }) {
  return (
    <section class="entry" aria-label={title}>
      <div class="entry-head">
        <i
          class={`codicon codicon-${isDone ? "pass-filled" : "circle-large"}`}
          role="img"
          aria-label={isDone ? messages.STEP_DONE : messages.STEP_OPEN}
        />
        <h2>{title}</h2>
      </div>
      {children}
    </section>
  );
}

function Busy({ text }: { text: string }) {
  return (
    <p role="status">
      <i class="codicon codicon-loading codicon-modifier-spin" aria-hidden="true" /> {text}
    </p>
  );
}

function Server({ state: { server, installation } }: { state: SetupState }) {
  if (installation.phase === "running")
    return (
      <>
        <Busy text={installation.step} />
        <p class="entry-quiet setup-line">{installation.line}</p>
      </>
    );
  switch (server.phase) {
    case "looking":
      return <Busy text={messages.LOOKING} />;
    case "starting":
      return <Busy text={messages.STARTING_SERVER} />;
    case "ready":
      return <p>{messages.serverReady(server.version, server.source)}</p>;
    case "failed":
      return (
        <>
          <p class="page-error" role="alert">
            {server.text}
          </p>
          <div class="entry-actions">
            <button
              type="button"
              class="button primary"
              onClick={() => post({ type: "run", command: server.fix.command })}
            >
              {server.fix.title}
            </button>
            <button type="button" class="button" onClick={() => post({ type: "start" })}>
              {messages.TRY_AGAIN}
            </button>
          </div>
        </>
      );
    case "missing":
      return (
        <>
          <p>{server.text}</p>
          {installation.phase === "failed" && <Failure text={installation.text} details={installation.details} />}
          {server.canInstall && (
            <>
              <button type="button" class="button primary" onClick={() => post({ type: "install" })}>
                {installation.phase === "failed" ? messages.TRY_AGAIN : messages.INSTALL}
              </button>
              <p class="entry-quiet">{messages.INSTALL_HINT}</p>
            </>
          )}
        </>
      );
  }
}

function Failure({ text, details }: { text: string; details: string }) {
  return (
    <div role="alert">
      <p class="page-error">{text}</p>
      {details && (
        <details>
          <summary>{messages.INSTALLER_WORDS}</summary>
          <pre class="setup-output" tabIndex={0}>
            {details}
          </pre>
        </details>
      )}
    </div>
  );
}

function Present({ status }: { status: SetupStatusResult }) {
  return (
    <>
      {status.isReady ? (
        <p>{messages.modelInUse(status.model, labelOf(status))}</p>
      ) : (
        <p class="entry-quiet">{status.problem}</p>
      )}
      {status.isReady && status.baseUrl && <code class="entry-code">{status.baseUrl}</code>}
      {status.fallbacks.length > 0 && <p>{messages.fallbacksInUse(status.fallbacks.join(", "))}</p>}
      {status.isReady && (
        <p class="entry-quiet">
          {messages.storedIn(status.configFile, status.secretsFile)}{" "}
          <button type="button" class="link" onClick={() => post({ type: "open", path: status.configFile })}>
            {messages.OPEN_CONFIG}
          </button>
        </p>
      )}
    </>
  );
}

/** Return this page's label for the current provider. */
function labelOf({ provider, providers }: SetupStatusResult): string {
  return providers.find(({ name }) => name === provider)?.label ?? provider;
}

function Ready({ state }: { state: SetupState }) {
  return (
    <>
      <section class="entry" aria-label={messages.FIRST_PROMPTS_TITLE}>
        <h2>{messages.FIRST_PROMPTS_TITLE}</h2>
        <div class="setup-prompts">
          {messages.FIRST_PROMPTS.map((text) => (
            <button key={text} type="button" class="button" onClick={() => post({ type: "begin", text })}>
              {text}
            </button>
          ))}
        </div>
        <button type="button" class="button primary" onClick={() => post({ type: "begin", text: "" })}>
          {messages.BEGIN}
        </button>
      </section>
      <section class="entry" aria-label={messages.OPTIONS_TITLE}>
        <h2>{messages.OPTIONS_TITLE}</h2>
        <Option option="actions" isOn={state.offersActions} label={messages.OFFER_ACTIONS} />
        <Option option="completion" isOn={state.offersCompletion} label={messages.OFFER_COMPLETION} />
      </section>
    </>
  );
}

function Option({ option, isOn, label }: { option: "actions" | "completion"; isOn: boolean; label: string }) {
  return (
    <label class="setup-option">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => post({ type: "option", option, isOn: event.currentTarget.checked })}
      />
      {label}
    </label>
  );
}
