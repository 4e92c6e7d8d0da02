/** Files on the server, shown in the page. */

import { errorText } from "../acp/error_text";
import type { Link } from "../acp/link";
import { announces, ask } from "../acp/methods";
import type { Overlays } from "./dialogs";

export class FileOpener {
  private link: Link | undefined;

  /** `shown` returns the session whose folders are used. */
  constructor(
    private readonly overlays: Overlays,
    private readonly shown: () => string,
  ) {}

  adopt(link: Link): void {
    this.link = announces(link, "fileReading") ? link : undefined;
  }

  /** Show a file, or why it cannot be shown. Resolves to false if the server does not support this. */
  async open(path: string, line?: number): Promise<boolean> {
    const sessionId = this.shown();
    if (!this.link || this.link.isClosed || !sessionId) return false;
    try {
      const file = await ask(this.link, "_hermes/files/read", { sessionId, path: pathOf(path) });
      this.overlays.showFile({ ...file, line });
    } catch (error) {
      this.overlays.say(errorText(error));
    }
    return true;
  }
}

/** Return the path of a link. */
function pathOf(given: string): string {
  if (!given.startsWith("file://")) return given;
  try {
    return decodeURIComponent(new URL(given).pathname);
  } catch {
    return given;
  }
}
