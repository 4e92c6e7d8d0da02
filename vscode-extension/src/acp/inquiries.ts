/** The agent's own questions (elicitation), shown and answered in the conversation. */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import { LEFT_EMPTY, PAGE_OPENED } from "../messages/conversation";
import type { Store } from "../state/store";
import { toFields } from "./translate";

type Answer = Readonly<Record<string, unknown>>;

interface Open {
  readonly sessionId: string;
  readonly isPage: boolean;
  readonly settle: (response: acp.CreateElicitationResponse) => void;
}

export class Inquiries {
  private readonly open = new Map<string, Open>();
  private count = 0;

  constructor(private readonly store: Store) {}

  /** Show a question and wait for the answer. */
  ask(request: acp.CreateElicitationRequest, signal: AbortSignal): Promise<acp.CreateElicitationResponse> {
    const sessionId = "sessionId" in request ? String(request.sessionId) : "";
    if (!this.store.get(sessionId)) return Promise.resolve({ action: "cancel" });
    this.count += 1;
    const id = `question-${this.count}`;
    const isPage = request.mode === "url";
    const schema = isPage ? undefined : (request as acp.ElicitationFormMode).requestedSchema;
    this.store.dispatch(sessionId, {
      type: "inquired",
      id,
      text: request.message,
      ...(isPage ? { url: String((request as acp.ElicitationUrlMode).url) } : {}),
      fields: toFields(schema),
    });
    return new Promise((resolve) => {
      const settle = (response: acp.CreateElicitationResponse) => {
        this.open.delete(id);
        resolve(response);
      };
      this.open.set(id, { sessionId, isPage, settle });
      signal.addEventListener("abort", () => this.reply(id, undefined));
    });
  }

  /** Answer an open question with a form's content, or with undefined to dismiss it. */
  reply(id: string, content: Answer | undefined): void {
    const question = this.open.get(id);
    if (!question) return;
    const answer = content ? receiptOf(content, question.isPage) : "";
    this.store.dispatch(question.sessionId, { type: "replied", id, answer });
    question.settle(content ? ({ action: "accept", content } as acp.CreateElicitationResponse) : { action: "cancel" });
  }
}

/** Return the text for an answer: the filled-in values, or a note that there are none. */
function receiptOf(content: Answer, isPage: boolean): string {
  const given = Object.values(content)
    .map(String)
    .filter((value) => value.trim() !== "");
  return given.join(", ") || (isPage ? PAGE_OPENED : LEFT_EMPTY);
}
