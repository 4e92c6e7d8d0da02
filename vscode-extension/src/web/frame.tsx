/**
 * What stands around the panel in a browser: the folder, the ways to sessions, how the connection is.
 *
 * Knows: the head of the page. Does not know: the panel.
 */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { PAST_SESSIONS } from "../messages/panel";
import * as messages from "../messages/web";
import { nameOf } from "../state/session";
import { split } from "../webview/paths";
import type { Model } from "../webview/model";
import type { WebEngine } from "./engine";
import { useValue } from "./observable";
import { OverlayView } from "./overlays";
import type { SocketState } from "./resumable_socket";

interface Props {
  readonly engine: WebEngine;
  readonly model: Model;
  readonly onPast: (isShown: boolean) => void;
  readonly children: ComponentChildren;
}

export function Frame({ engine, model, onPast, children }: Props) {
  const state = useValue(engine.state);
  const isBlocked = useValue(engine.overlays.open) !== undefined;
  const session = model.sessions[model.shell?.active ?? ""];
  const title = session ? nameOf(session) : messages.PRODUCT;
  useEffect(() => {
    document.title = session ? messages.titleOf(title) : messages.PRODUCT;
  }, [title, session !== undefined]);
  return (
    <>
      <div class="frame" inert={isBlocked}>
        <Head engine={engine} model={model} onPast={onPast} title={title} />
        <Offline state={state} />
        <main class="frame-main">{children}</main>
      </div>
      <OverlayView engine={engine} model={model} />
      <Toast engine={engine} />
    </>
  );
}

function Head({ engine, model, onPast, title }: Omit<Props, "children"> & { readonly title: string }) {
  const folder = model.shell?.roots[0] ?? "";
  const hasRuns = useValue(engine.runs.areThere);
  return (
    <header class="frame-head">
      <h1 class="frame-title" title={folder}>
        <span class="frame-name">{title}</span>
        {folder && <span class="frame-folder">{split(folder).name}</span>}
      </h1>
      {hasRuns && <HeadButton icon="tasklist" label={messages.RUNS} onClick={() => engine.overlays.showRuns()} />}
      <HeadButton icon="history" label={PAST_SESSIONS} onClick={() => onPast(!model.isPastShown)} />
      <HeadButton icon="add" label={messages.NEW_SESSION} onClick={() => engine.overlays.chooseFolder()} />
    </header>
  );
}

function HeadButton({ icon, label, onClick }: { icon: string; label: string; onClick: () => void }) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onClick}>
      <i class={`codicon codicon-${icon}`} />
    </button>
  );
}

/** A connection that is lost for a moment is no news; one that stays away is. */
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
