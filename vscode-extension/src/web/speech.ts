/** Recordings that the agent transcribes for the prompt. */

import type { Link } from "../acp/link";
import { ask, NotThere } from "../acp/methods";
import { CONNECTION_LOST } from "../messages/web";
import type { Transcription } from "../panel/host";

export class Speech implements Transcription {
  private link: Link | undefined;

  adopt(link: Link): void {
    this.link = link;
  }

  async transcribe(mimeType: string, data: string): Promise<string> {
    if (!this.link || this.link.isClosed) throw new NotThere(CONNECTION_LOST);
    return (await ask(this.link, "_hermes/speech/transcribe", { mimeType, data })).text;
  }
}
