import { describe, expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import { Speech } from "../../src/web/speech";
import { withSpeech } from "../../src/webview/draft";

describe("speech", () => {
  it("goes behind what is written", () => {
    expect(withSpeech("", "Fix it.")).toBe("Fix it.");
    expect(withSpeech("Please:", "fix it.")).toBe("Please: fix it.");
    expect(withSpeech("Please:\n", "fix it.")).toBe("Please:\nfix it.");
    expect(withSpeech("Please:", "")).toBe("Please:");
  });

  it("is turned into text by the agent", async () => {
    const asked: unknown[] = [];
    const agent = { request: (...all: unknown[]) => Promise.resolve((asked.push(all), { text: "Fix it." })) };
    const speech = new Speech();
    await expect(speech.transcribe("audio/webm", "AAAA")).rejects.toThrow("The connection was lost.");
    speech.adopt({ agent, isClosed: false } as unknown as Link);
    expect(await speech.transcribe("audio/webm", "AAAA")).toBe("Fix it.");
    expect(asked).toEqual([["_hermes/speech/transcribe", { mimeType: "audio/webm", data: "AAAA" }]]);
  });
});
