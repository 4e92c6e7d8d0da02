/** The usage of sessions, by group and by session. */

import { ask } from "../acp/methods";
import type { UsageListGroup, UsageListParams, UsageListSession } from "../acp/own";
import { Served } from "./served";
import type { Measure } from "./usage_figures";

export type UsageBy = NonNullable<UsageListParams["by"]>;

export interface UsageShown {
  /** The number of days. */
  readonly span: number;
  readonly by: UsageBy;
  /** The measure that the reader chose, if any. */
  readonly measure: Measure | undefined;
  readonly groups: readonly UsageListGroup[];
  /** The kind of the loaded groups, which differs from `by` until the response arrives. */
  readonly groupsAre: UsageBy;
  readonly sessions: readonly UsageListSession[];
  readonly firstDay: string;
  readonly lastDay: string;
  readonly isWhole: boolean;
  readonly isReading: boolean;
  readonly problem: string;
}

export type UsageAction =
  | { readonly type: "span"; readonly days: number }
  | { readonly type: "by"; readonly by: UsageBy }
  | { readonly type: "measure"; readonly measure: Measure }
  | { readonly type: "openSession"; readonly sessionId: string; readonly cwd: string };

const NOTHING: UsageShown = {
  span: 30,
  by: "day",
  measure: undefined,
  groups: [],
  groupsAre: "day",
  sessions: [],
  firstDay: "",
  lastDay: "",
  isWhole: true,
  isReading: false,
  problem: "",
};

export class Usage extends Served<UsageShown> {
  /** Open a session. */
  onSession: (sessionId: string, cwd: string) => void = () => undefined;
  private asked = 0;

  constructor() {
    super("usage", NOTHING);
  }

  /** Load once, because reading records is expensive and nobody waits for the next figure. */
  follow(): () => void {
    void this.refresh();
    return () => undefined;
  }

  async act(action: UsageAction): Promise<void> {
    switch (action.type) {
      case "openSession":
        return this.onSession(action.sessionId, action.cwd);
      case "measure":
        return this.change({ measure: action.measure });
      case "span":
        this.change({ span: action.days });
        break;
      case "by":
        this.change({ by: action.by });
        break;
    }
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    const { span, by } = this.shown.value;
    const asked = ++this.asked;
    this.change({ isReading: true });
    await this.look(async (link) => {
      const used = await ask(link, "_hermes/usage/list", { days: span, by });
      if (asked === this.asked) this.change({ ...used, groupsAre: by });
    });
    if (asked === this.asked) this.change({ isReading: false });
  }
}
