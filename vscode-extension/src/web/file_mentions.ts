/** Mentions in prompts of the web page: files on the server, web pages, attached files. */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import type { Link } from "../acp/link";
import { announces, ask } from "../acp/methods";
import type { MentionReader } from "../panel/host";
import type { Mention } from "../panel/protocol";
import { split } from "../webview/paths";

export class FileMentions implements MentionReader {
  private link: Link | undefined;

  /** `shown` returns the session whose files are searched. */
  constructor(private readonly shown: () => string) {}

  adopt(link: Link): void {
    this.link = announces(link, "fileSearch") ? link : undefined;
  }

  async find(query: string): Promise<readonly Mention[]> {
    if (/^https?:\/\/\S/i.test(query)) return [{ kind: "url", token: query, label: query, detail: query, uri: query }];
    const sessionId = this.shown();
    if (!this.link || !sessionId) return [];
    // The user did not ask for a list. Without one, the text stays as it is.
    const found = await ask(this.link, "_hermes/files/find", { sessionId, query }).catch(() => ({ files: [] }));
    return found.files.map(({ path, name }) => ({
      kind: "file",
      token: name,
      label: split(name).name,
      detail: name,
      uri: `file://${path.split("/").map(encodeURIComponent).join("/")}`,
    }));
  }

  blockOf({ text, token, uri, detail }: Mention): Promise<acp.ContentBlock | undefined> {
    if (text !== undefined)
      return Promise.resolve({
        type: "resource",
        resource: { uri: `hermes://${token}`, text, mimeType: "text/plain" },
      });
    return Promise.resolve(uri ? { type: "resource_link", uri, name: detail } : undefined);
  }
}
