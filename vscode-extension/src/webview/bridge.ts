/**
 * The wire to the host, and what this page keeps for itself over a reload: drafts.
 *
 * Knows: posting, hearing, drafts by session. Does not know: what is said, who the host is.
 */

import type { ToHost, ToView } from "../panel/protocol";
import { handedOver, withDraft } from "./drafts";
import type { KeptMentions, PageHost } from "./page_host";

let host: PageHost | undefined;

/** Use a host from now on. */
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
  if (drafts !== kept) host?.setState({ ...host.getState(), drafts });
  return drafts[sessionId] ?? "";
}

export function keepDraft(sessionId: string, text: string): void {
  host?.setState({ ...host.getState(), drafts: withDraft(host.getState()?.drafts ?? {}, sessionId, text) });
}

export function keptMentions(): KeptMentions {
  return host?.getState()?.mentions ?? {};
}

export function keepMentions(mentions: KeptMentions): void {
  host?.setState({ ...host.getState(), mentions });
}
