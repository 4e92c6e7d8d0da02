/** A server problem as shown by the panel, with the command that helps. */

import { INSTALL_SERVER, OPEN_SETTINGS, RESTART_SERVER, SHOW_LOG, UPDATE_SERVER } from "../messages/server";
import type { Fix, State } from "../server/state";
import type { Banner } from "./protocol";

/** Fixes, as commands with button labels. */
export const FIXES: Readonly<Record<Fix, { command: string; title: string }>> = {
  install: { command: "hermes.install", title: INSTALL_SERVER },
  update: { command: "hermes.install", title: UPDATE_SERVER },
  start: { command: "hermes.restart", title: RESTART_SERVER },
  log: { command: "hermes.showLog", title: SHOW_LOG },
  settings: { command: "hermes.openSettings", title: OPEN_SETTINGS },
};

/** Return the banner for a failed start, or for a problem with a running server. */
export function bannerOf(state: State): Banner | undefined {
  if (state.phase === "failed") return { severity: "error", text: state.text, fix: FIXES[state.fix] };
  if (state.phase !== "ready" || !state.remark) return undefined;
  return { severity: "info", text: state.remark.text, fix: FIXES[state.remark.fix] };
}
