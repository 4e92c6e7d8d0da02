/**
 * The drafts of all sessions, by session; "" is where words stand until there is one.
 *
 * Knows: whose a draft is. Does not know: where drafts are kept.
 */

export type Drafts = Readonly<Record<string, string>>;

export function withDraft(drafts: Drafts, sessionId: string, text: string): Drafts {
  const { [sessionId]: _, ...others } = drafts;
  return text ? { ...others, [sessionId]: text } : others;
}

/** Give the words from before there was any session to one that has none of its own. */
export function handedOver(drafts: Drafts, sessionId: string): Drafts {
  const early = drafts[""];
  if (!early || drafts[sessionId]) return drafts;
  return withDraft(withDraft(drafts, "", ""), sessionId, early);
}
