/** The pages: which one is shown, and its frame. */

import { render, type ComponentChildren } from "preact";

import * as messages from "../../messages/pages";
import type { WorkShown } from "../../work/work";
import { PAGES, type PageName, type PagesState } from "../../pages/protocol";
import { listen, post } from "./bridge";
import { ContextPage } from "./context";
import { McpPage } from "./mcp";
import { SetupPage } from "./setup";
import { TrustPage } from "./trust";
import { useHost } from "../bridge";
import { WorkView } from "../work/work_view";
import "@vscode/codicons/dist/codicon.css";
import "../style/page.css";
import "../style/pages.css";

function Shown({ state }: { state: PagesState }) {
  switch (state.page) {
    case "setup":
      return <SetupPage state={state.setup} />;
    case "mcp":
      return state.mcp ? <McpPage list={state.mcp} isBusy={state.isBusy} /> : null;
    case "context":
      return state.context ? <ContextPage list={state.context} /> : null;
    case "trust":
      return state.trust ? <TrustPage list={state.trust} /> : null;
    case "board":
    case "runs":
    case "schedules":
    case "usage":
    case "settings":
      return state.work ? <WorkPage work={state.work} folder={state.folder} /> : null;
  }
}

function WorkPage({ work, folder }: { work: WorkShown; folder: string }) {
  return <WorkView work={work} folder={folder} act={(action) => post({ type: "work", work: action })} />;
}

/** Move between tabs with the arrow keys, as tabs are expected to. */
function onTabKey(event: KeyboardEvent, page: PageName): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return;
  const next = PAGES[(PAGES.indexOf(page) + step + PAGES.length) % PAGES.length] ?? page;
  document.getElementById(`tab-${next}`)?.focus();
  post({ type: "go", page: next });
}

function Tabs({ page }: { page: PageName }) {
  return (
    <div class="page-tabs" role="tablist" aria-label={messages.PAGES_LABEL}>
      {PAGES.map((each) => (
        <button
          key={each}
          id={`tab-${each}`}
          type="button"
          role="tab"
          class={`page-tab ${each === page ? "active" : ""}`}
          aria-selected={each === page}
          aria-controls="page"
          tabIndex={each === page ? 0 : -1}
          onClick={() => post({ type: "go", page: each })}
          onKeyDown={(event) => onTabKey(event, page)}
        >
          {messages.PAGE_NAMES[each]}
        </button>
      ))}
    </div>
  );
}

function Frame({ state, children }: { state: PagesState; children: ComponentChildren }) {
  if (state.isPanel) return <main class="page">{children}</main>;
  return (
    <main class="page">
      <Tabs page={state.page} />
      <div id="page" role="tabpanel" aria-labelledby={`tab-${state.page}`} aria-busy={state.isBusy}>
        {state.page !== "setup" && (
          <div class="page-head">
            <h1>{messages.PAGE_NAMES[state.page]}</h1>
            <code>{state.folder}</code>
            <span class="spring" />
            <button
              type="button"
              class="icon-button"
              aria-label={messages.REFRESH}
              title={messages.REFRESH}
              onClick={() => post({ type: "refresh" })}
            >
              <i class={`codicon codicon-refresh ${state.isBusy ? "codicon-modifier-spin" : ""}`} />
            </button>
          </div>
        )}
        {children}
      </div>
    </main>
  );
}

function App({ state }: { state: PagesState }) {
  return (
    <Frame state={state}>
      <div role="status" class={state.notice ? "page-notice" : "unseen"}>
        {state.notice}
      </div>
      {state.error && (
        <p class="page-error" role="alert">
          {state.error}
        </p>
      )}
      <Shown state={state} />
    </Frame>
  );
}

const root = document.getElementById("root");
if (root) {
  // A change of a file is drawn as in the panel; of what can be done there, files can be opened here.
  useHost({
    post: (message) => {
      if (message.type === "open") post(message);
    },
    listen: () => undefined,
    getState: () => undefined,
    setState: () => undefined,
  });
  listen((message) => render(<App state={message.state} />, root));
  post({ type: "ready" });
}
