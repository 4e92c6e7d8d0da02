import { expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import { FileMentions } from "../../src/web/file_mentions";

function linkOf(find: () => Promise<unknown>): Link {
  return {
    agent: { request: find },
    greeting: { agentCapabilities: { _meta: { hermes: { fileSearch: true } } } },
  } as unknown as Link;
}

it("mentions files of the shown session as links that the agent reads", async () => {
  const mentions = new FileMentions(() => "ses_1");
  expect(await mentions.find("a")).toEqual([]);
  mentions.adopt(linkOf(() => Promise.resolve({ files: [{ path: "/p/src/a #1.py", name: "src/a #1.py" }] })));
  const [file] = await mentions.find("a");
  expect(file).toMatchObject({ kind: "file", token: "src/a #1.py", label: "a #1.py" });
  expect(file && (await mentions.blockOf(file))).toEqual({
    type: "resource_link",
    uri: "file:///p/src/a%20%231.py",
    name: "src/a #1.py",
  });
});

it("offers nothing where nothing can be found, and pages of the web always", async () => {
  const mentions = new FileMentions(() => "ses_1");
  mentions.adopt(linkOf(() => Promise.reject(new Error("gone"))));
  expect(await mentions.find("a")).toEqual([]);
  expect(await mentions.find("https://example.invalid/")).toMatchObject([{ kind: "url" }]);
});
