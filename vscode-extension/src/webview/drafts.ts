/** The drafts of all sessions. The key "" is for text written before there is a session. */

export type Drafts = Readonly<Record<string, string>>;

export function withDraft(drafts: Drafts, sessionId: string, text: string): Drafts {
  const { [sessionId]: _, ...others } = drafts;
  return text ? { ...others, [sessionId]: text } : others;
}

/** Move the text from before there was a session to a session without a draft. */
export function handedOver(drafts: Drafts, sessionId: string): Drafts {
  const early = drafts[""];
  if (!early || drafts[sessionId]) return drafts;
  return withDraft(withDraft(drafts, "", ""), sessionId, early);
}
