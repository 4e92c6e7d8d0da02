import { describe, expect, it } from "vitest";

import { Inquiries } from "../../src/acp/inquiries";
import { findItem } from "../../src/state/session";
import { Store } from "../../src/state/store";

const FORM = {
  mode: "form",
  sessionId: "s",
  message: "Which port?",
  requestedSchema: { type: "object", properties: {} },
};
const PAGE = { mode: "url", sessionId: "s", message: "Sign in", url: "https://example.org", elicitationId: "e" };

async function answered(request: object, content: Readonly<Record<string, unknown>> | undefined) {
  const store = new Store();
  store.open("s", "/p");
  const inquiries = new Inquiries(store);
  const reply = inquiries.ask(request as never, new AbortController().signal);
  inquiries.reply("question-1", content);
  const session = store.get("s");
  return [(await reply).action, session && findItem(session, "question", "question-1")?.answer];
}

describe("the answer to a question", () => {
  it("is shown as it was given", async () => {
    expect(await answered(FORM, { port: 8080, host: "here" })).toEqual(["accept", "8080, here"]);
    expect(await answered(FORM, { port: 8080, host: "" })).toEqual(["accept", "8080"]);
  });

  it("says that it was left empty where nothing was given", async () => {
    expect(await answered(FORM, {})).toEqual(["accept", "Left empty"]);
    expect(await answered(FORM, { host: "  " })).toEqual(["accept", "Left empty"]);
  });

  it("says of a page that it was opened", async () => {
    expect(await answered(PAGE, {})).toEqual(["accept", "Page opened"]);
  });

  it("is none where the question was dismissed", async () => {
    expect(await answered(FORM, undefined)).toEqual(["cancel", ""]);
  });
});
