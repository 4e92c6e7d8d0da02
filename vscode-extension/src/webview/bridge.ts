/**
 * The wire to the host, and what this page keeps for itself over a reload: drafts.
 *
 * Knows: posting, hearing, drafts by session. Does not know: what is said.
 */

import type { Mention, ToHost, ToView } from "../panel/protocol";
import { handedOver, withDraft, type Drafts } from "./drafts";

interface Kept {
  readonly drafts?: Drafts;
  readonly mentions?: KeptMentions;
}
/** What drafts mention, by session. */
export type KeptMentions = Readonly<Record<string, readonly Mention[]>>;
interface Api {
  postMessage(message: ToHost): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}
declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();

export function post(message: ToHost): void {
  api.postMessage(message);
}

export function listen(listener: (message: ToView) => void): void {
  window.addEventListener("message", (event: MessageEvent<ToView>) => listener(event.data));
}

export function draftOf(sessionId: string): string {
  const kept = api.getState()?.drafts ?? {};
  const drafts = handedOver(kept, sessionId);
  if (drafts !== kept) api.setState({ ...api.getState(), drafts });
  return drafts[sessionId] ?? "";
}

export function keepDraft(sessionId: string, text: string): void {
  api.setState({ ...api.getState(), drafts: withDraft(api.getState()?.drafts ?? {}, sessionId, text) });
}

export function keptMentions(): KeptMentions {
  return api.getState()?.mentions ?? {};
}

export function keepMentions(mentions: KeptMentions): void {
  api.setState({ ...api.getState(), mentions });
}
