/** An earlier session as text for a prompt. */

import { AGENT_SAID, REST_LEFT_OUT, USER_SAID } from "../messages/agent";
import type { Session } from "../state/session";

const MAX_TEXT = 40_000;
const MAX_ENTRY = 8_000;

/** Return the messages of both sides and the titles of the calls, with the latest in full. */
export function transcriptOf({ items }: Pick<Session, "items">): string {
  const entries = items.flatMap((item) => {
    if (item.type === "user") return [`${USER_SAID}\n${shortened(item.text)}`];
    if (item.type === "agent") return [`${AGENT_SAID}\n${shortened(item.text)}`];
    return item.type === "call" ? [`[${item.title}: ${item.status}]`] : [];
  });
  const kept: string[] = [];
  let length = 0;
  for (const entry of entries.reverse()) {
    length += entry.length;
    if (length > MAX_TEXT) return [REST_LEFT_OUT, ...kept].join("\n\n");
    kept.unshift(entry);
  }
  return kept.join("\n\n");
}

function shortened(text: string): string {
  return text.length > MAX_ENTRY ? `${text.slice(0, MAX_ENTRY)}\n${REST_LEFT_OUT}` : text;
}
