/** State that the page stores in its tab: open sessions, drafts, folders, but no conversations. */

import type { SavedSessions } from "../state/saved_sessions";
import { emptySession } from "../state/session";
import type { Kept } from "../webview/page_host";

const SESSIONS = "sessions";

export class TabMemory {
  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem">) {}

  get<T>(key: string): T | undefined {
    const text = this.storage.getItem(`hermes.${key}`);
    return text === null ? undefined : (JSON.parse(text) as T);
  }

  /** Store a value. Of sessions, only the data to find them again is stored. Values that do not fit are dropped. */
  set(key: string, value: unknown): void {
    try {
      this.storage.setItem(`hermes.${key}`, JSON.stringify(key === SESSIONS ? found(value as SavedSessions) : value));
    } catch {
      return;
    }
  }

  page(): Kept | undefined {
    return this.get<Kept>("page");
  }
}

function found({ active, sessions }: SavedSessions): SavedSessions {
  return { active, sessions: sessions.map(({ id, cwd, title }) => ({ ...emptySession(id, cwd), title })) };
}
