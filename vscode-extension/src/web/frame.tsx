/** The frame around the panel in a browser: the folder, navigation to sessions, the state of the connection. */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { PAST_SESSIONS } from "../messages/panel";
import * as messages from "../messages/web";
import { withCount, WORK_PAGE_NAMES } from "../messages/work";
import { nameOf } from "../state/session";
import { split } from "../webview/paths";
import type { Model } from "../webview/model";
import { useValue } from "../webview/use_value";
import { WORK_PAGES, type WorkPage } from "../work/work";
import type { WebEngine } from "./engine";
import { OverlayView } from "./overlays";
import type { SocketState } from "./resumable_socket";

interface Props {
  readonly engine: WebEngine;
  readonly model: Model;
  readonly onPast: (isShown: boolean) => void;
  /** Set only if the user can sign out. */
  readonly onSignOut?: (() => Promise<void>) | undefined;
  readonly children: ComponentChildren;
}

export function Frame({ engine, model, onPast, onSignOut, children }: Props) {
  const state = useValue(engine.state);
  const isBlocked = useValue(engine.overlays.open) !== undefined;
  const session = model.sessions[model.shell?.active ?? ""];
  const waiting = useValue(engine.work.runs.shown).waiting.length;
  const questions = useValue(engine.questions) + waiting;
  const title = session ? nameOf(session) : messages.PRODUCT;
  const tabTitle = messages.titleWithQuestions(session ? messages.titleOf(title) : title, questions);
  useEffect(() => {
    document.title = tabTitle;
  }, [tabTitle]);
  return (
    <>
      <div class="frame" inert={isBlocked}>
        <Head engine={engine} model={model} onPast={onPast} onSignOut={onSignOut} title={title} />
        <Offline state={state} />
        <main class="frame-main">{children}</main>
      </div>
      <OverlayView engine={engine} model={model} />
      <Toast engine={engine} />
    </>
  );
}

function Head({ engine, model, onPast, onSignOut, title }: Omit<Props, "children"> & { readonly title: string }) {
  const folder = model.shell?.roots[0] ?? "";
  const waiting = useValue(engine.work.runs.shown).waiting.length;
  return (
    <header class="frame-head">
      <h1 class="frame-title" title={folder}>
        <span class="frame-name">{title}</span>
        {folder && <span class="frame-folder">{split(folder).name}</span>}
      </h1>
      {WORK_PAGES.map((page) => (
        <WorkButton key={page} engine={engine} page={page} count={page === "runs" ? waiting : 0} />
      ))}
      <HeadButton icon="history" label={PAST_SESSIONS} onClick={() => onPast(!model.isPastShown)} />
      <HeadButton icon="add" label={messages.NEW_SESSION} onClick={() => engine.overlays.chooseFolder()} />
      {onSignOut && <HeadButton icon="sign-out" label={messages.SIGN_OUT} onClick={() => void onSignOut()} />}
    </header>
  );
}

const ICONS = {
  board: "project",
  runs: "tasklist",
  schedules: "calendar",
  usage: "graph",
  settings: "settings-gear",
} as const;

/** A button that opens a page of the server. `count` is the number of waiting items there. */
function WorkButton({ engine, page, count }: { engine: WebEngine; page: WorkPage; count: number }) {
  const isThere = useValue(engine.work[page].isThere);
  if (!isThere) return null;
  const label = withCount(WORK_PAGE_NAMES[page], count);
  return (
    <HeadButton icon={ICONS[page]} label={label} onClick={() => engine.overlays.showWork(page)}>
      {count > 0 && <span class="frame-count">{count}</span>}
    </HeadButton>
  );
}

interface HeadButtonProps {
  readonly icon: string;
  readonly label: string;
  readonly onClick: () => void;
  readonly children?: ComponentChildren;
}

function HeadButton({ icon, label, onClick, children }: HeadButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onClick}>
      <i class={`codicon codicon-${icon}`} />
      {children}
    </button>
  );
}

/** Report a lost connection only if it stays lost for a while. */
function Offline({ state }: { state: SocketState }) {
  return (
    <div class="frame-offline" role="status">
      {state === "offline" && (
        <span>
          <i class="codicon codicon-debug-disconnect" /> {messages.OFFLINE}
        </span>
      )}
    </div>
  );
}

function Toast({ engine }: { engine: WebEngine }) {
  const words = useValue(engine.overlays.toast);
  return (
    <div class="toast" role="status">
      {words && <span>{words}</span>}
    </div>
  );
}
