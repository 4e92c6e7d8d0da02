import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, it } from "vitest";

import { errorText, needsSetUp } from "../../src/acp/error_text";

describe("what went wrong", () => {
  it("is what the server says where that is a sentence", () => {
    const busy = new RequestError(-32600, "The session is open in another process.", { code: "busy" });
    expect(errorText(busy)).toBe("The session is open in another process.");
    expect(errorText(new Error("Open a folder first."))).toBe("Open a folder first.");
  });

  it("names no code and no internals of the protocol", () => {
    const errors = [
      new RequestError(-32603, "internal error", { code: "bug", trace: "bf52f4" }),
      RequestError.internalError(),
      RequestError.methodNotFound("session/fork"),
      new RequestError(-32601, "no such method", { code: "no_such_method" }),
      RequestError.invalidParams({ sessionId: { _errors: ["Required"] } }),
      new RequestError(-32602, "the parameters of session/new do not fit: Expected `str`", { code: "bad_params" }),
      new RequestError(-32600, "initialize must come first", { code: "not_initialized" }),
      RequestError.parseError(),
      RequestError.requestCancelled(),
      new Error("ACP connection closed"),
    ];
    for (const error of errors) {
      const words = errorText(error);
      expect(words).toMatch(/^[A-Z].*\.$/);
      expect(words).not.toMatch(/-32|internal error|params|parameter|method|session\/|initialize|parse|JSON|ACP/i);
    }
    expect(errorText(errors[0])).toContain("bf52f4");
  });

  it("is in the details where the message is bare", () => {
    expect(errorText(RequestError.internalError({ details: "The disk is full." }))).toBe("The disk is full.");
  });

  it("is known by its code where a model has to be set up", () => {
    expect(needsSetUp(RequestError.authRequired())).toBe(true);
    expect(needsSetUp(new Error("no"))).toBe(false);
  });
});
