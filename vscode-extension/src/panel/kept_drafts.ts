/**
 * The panel's drafts, stored by the host, because a page's own storage may be lost on reload.
 *
 * The key "" is for text written before there is a session.
 */

import type { KeptValues } from "./host";
import type { DraftNews, PanelDrafts } from "./protocol";

const KEPT = "drafts";
/** How often typed text is stored. */
const KEEP_MS = 150;

export class KeptDrafts {
  private drafts: PanelDrafts | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly memory: KeptValues) {
    this.drafts = memory.get<PanelDrafts>(KEPT);
  }

  /** Return all drafts, or undefined if none were stored here, in which case pages use their own. */
  get all(): PanelDrafts | undefined {
    return this.drafts;
  }

  take({ sessionId, text, mentions }: DraftNews): void {
    const { drafts = {}, mentions: named = {} } = this.drafts ?? {};
    this.drafts = {
      drafts: text === undefined ? drafts : withValue(drafts, sessionId, text || undefined),
      mentions:
        mentions === undefined ? named : withValue(named, sessionId, mentions.length > 0 ? mentions : undefined),
    };
    this.timer ??= setTimeout(() => this.keep(), KEEP_MS);
  }

  /** Store unsaved drafts, because the window closes. */
  dispose(): void {
    if (this.timer !== undefined) this.keep();
  }

  private keep(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.memory.set(KEPT, this.drafts);
  }
}

function withValue<T>(all: Readonly<Record<string, T>>, id: string, value: T | undefined): Readonly<Record<string, T>> {
  const { [id]: _, ...others } = all;
  return value === undefined ? others : { ...others, [id]: value };
}
