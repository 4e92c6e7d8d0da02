/**
 * The connection to the host, and drafts that survive a reload. The host stores drafts too, because pages may lose
 * them.
 */

import type { PanelDrafts, ToHost, ToView } from "../panel/protocol";
import { handedOver, withDraft } from "./drafts";
import type { KeptMentions, PageHost } from "./page_host";

let host: PageHost | undefined;

/** Set the host. */
export function useHost(one: PageHost): void {
  host = one;
}

export function post(message: ToHost): void {
  host?.post(message);
}

export function listen(listener: (message: ToView) => void): void {
  host?.listen(listener);
}

export function draftOf(sessionId: string): string {
  const kept = host?.getState()?.drafts ?? {};
  const drafts = handedOver(kept, sessionId);
  const text = drafts[sessionId] ?? "";
  if (drafts !== kept) {
    host?.setState({ ...host.getState(), drafts });
    post({ type: "draft", sessionId: "", text: "" });
    post({ type: "draft", sessionId, text });
  }
  return text;
}

export function keepDraft(sessionId: string, text: string): void {
  host?.setState({ ...host.getState(), drafts: withDraft(host.getState()?.drafts ?? {}, sessionId, text) });
  post({ type: "draft", sessionId, text });
}

/** Use the host's drafts, which are at least as new as this page's. */
export function takeDrafts({ drafts, mentions }: PanelDrafts): void {
  host?.setState({ ...host.getState(), drafts, mentions });
}

export function keptMentions(): KeptMentions {
  return host?.getState()?.mentions ?? {};
}

export function keepMentions(mentions: KeptMentions): void {
  const before = keptMentions();
  host?.setState({ ...host.getState(), mentions });
  for (const sessionId of new Set([...Object.keys(before), ...Object.keys(mentions)])) {
    const [had, has] = [before[sessionId] ?? [], mentions[sessionId] ?? []];
    if (had !== has && had.length + has.length > 0) post({ type: "draft", sessionId, mentions: has });
  }
}
