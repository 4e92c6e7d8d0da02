/**
 * What sessions have used: by day, and by session.
 *
 * Knows: `_hermes/usage/list`. Does not know: how it is drawn.
 */

import { ask } from "../acp/methods";
import type { UsageListDay, UsageListSession } from "../acp/own";
import { Served } from "./served";

export interface UsageShown {
  /** Of how many days. */
  readonly span: number;
  readonly days: readonly UsageListDay[];
  readonly sessions: readonly UsageListSession[];
  readonly isWhole: boolean;
  readonly isThere: boolean;
  readonly problem: string;
}

export type UsageAction =
  | { readonly type: "span"; readonly days: number }
  | { readonly type: "openSession"; readonly sessionId: string; readonly cwd: string };

const NOTHING: UsageShown = { span: 30, days: [], sessions: [], isWhole: true, isThere: false, problem: "" };

export class Usage extends Served<UsageShown> {
  /** Open a session that used something. */
  onSession: (sessionId: string, cwd: string) => void = () => undefined;

  constructor() {
    super("usage", NOTHING);
  }

  /** Look once: reading all records is work, and nobody waits for the next figure. */
  follow(): () => void {
    void this.refresh();
    return () => undefined;
  }

  async act(action: UsageAction): Promise<void> {
    if (action.type === "openSession") return this.onSession(action.sessionId, action.cwd);
    this.change({ span: action.days });
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    const { span } = this.shown.value;
    await this.look(async (link) => {
      const { days, sessions, isWhole } = await ask(link, "_hermes/usage/list", { days: span });
      if (this.shown.value.span === span) this.change({ days, sessions, isWhole, isThere: true });
    });
  }
}
