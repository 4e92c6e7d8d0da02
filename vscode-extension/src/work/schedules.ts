/** Schedules: the list, their history, and adding new ones. */

import { ask } from "../acp/methods";
import type {
  SchedulesAddParams,
  SchedulesAddResult,
  SchedulesChangeParams,
  SchedulesHistoryOccurrence,
  SchedulesListSchedule,
} from "../acp/own";
import { Served } from "./served";

export interface SchedulesShown {
  readonly schedules: readonly SchedulesListSchedule[];
  readonly isDriven: boolean;
  readonly tz: string;
  /** The schedule whose history is shown, or empty. */
  readonly open: string;
  readonly history: readonly SchedulesHistoryOccurrence[];
  /** A new schedule as the server understood it, until the user confirms it. */
  readonly trial: { readonly wish: SchedulesAddParams; readonly result: SchedulesAddResult } | undefined;
  /** The number of added schedules, after which the form is reset. */
  readonly added: number;
  readonly problem: string;
}

export type SchedulesAction =
  | { readonly type: "look"; readonly id: string }
  | { readonly type: "try" | "add"; readonly wish: SchedulesAddParams }
  | { readonly type: "leave" }
  | { readonly type: "change"; readonly id: string; readonly action: SchedulesChangeParams["action"] };

const NOTHING: SchedulesShown = {
  schedules: [],
  isDriven: true,
  tz: "",
  open: "",
  history: [],
  trial: undefined,
  added: 0,
  problem: "",
};
const POLL_MS = 10_000;

export class Schedules extends Served<SchedulesShown> {
  constructor() {
    super("schedules", NOTHING);
  }

  /** Refresh every few seconds. Call the result to stop. */
  follow(): () => void {
    this.change({ open: "", history: [], trial: undefined });
    void this.refresh();
    const timer = setInterval(() => void this.refresh(), POLL_MS);
    return () => clearInterval(timer);
  }

  async act(action: SchedulesAction): Promise<void> {
    switch (action.type) {
      case "look":
        this.change({ open: action.id, history: [] });
        return this.refresh();
      case "leave":
        return this.change({ trial: undefined });
      case "try":
        await this.work(async (link) => {
          const result = await ask(link, "_hermes/schedules/add", { ...action.wish, isTrial: true });
          this.change({ trial: { wish: action.wish, result } });
        });
        return;
      case "add":
        return this.then(async (link) => {
          await ask(link, "_hermes/schedules/add", action.wish);
          this.change({ trial: undefined, added: this.shown.value.added + 1 });
        });
      case "change":
        return this.then(async (link) => {
          await ask(link, "_hermes/schedules/change", { id: action.id, action: action.action });
        });
    }
  }

  /** Perform an action and refresh. */
  private async then(work: Parameters<Schedules["work"]>[0]): Promise<void> {
    if (await this.work(work)) await this.refresh();
  }

  private async refresh(): Promise<void> {
    await this.look(async (link) => {
      const { schedules, isDriven, tz } = await ask(link, "_hermes/schedules/list", {});
      const { open } = this.shown.value;
      const isThere = schedules.some(({ id }) => id === open);
      const history = isThere ? (await ask(link, "_hermes/schedules/history", { id: open })).occurrences : [];
      this.change({ schedules, isDriven, tz });
      if (this.shown.value.open === open) this.change({ history });
    });
  }
}
