/** Background work as one part: boards, runs, schedules, usage, settings. */

import type { Link } from "../acp/link";
import type { BoardChangedParams } from "../acp/own";
import { Board, type BoardAction, type BoardShown } from "./board";
import { Runs, type RunsAction, type RunsShown } from "./runs";
import { Schedules, type SchedulesAction, type SchedulesShown } from "./schedules";
import { SettingsPage, type SettingsAction, type SettingsShown } from "./settings";
import { Usage, type UsageAction, type UsageShown } from "./usage";

export const WORK_PAGES = ["board", "runs", "schedules", "usage", "settings"] as const;
export type WorkPage = (typeof WORK_PAGES)[number];

/** The content of one page. */
export type WorkShown =
  | { readonly page: "board"; readonly shown: BoardShown }
  | { readonly page: "runs"; readonly shown: RunsShown }
  | { readonly page: "schedules"; readonly shown: SchedulesShown }
  | { readonly page: "usage"; readonly shown: UsageShown }
  | { readonly page: "settings"; readonly shown: SettingsShown };

/** A user's action on one page. */
export type WorkAction =
  | { readonly page: "board"; readonly action: BoardAction }
  | { readonly page: "runs"; readonly action: RunsAction }
  | { readonly page: "schedules"; readonly action: SchedulesAction }
  | { readonly page: "usage"; readonly action: UsageAction }
  | { readonly page: "settings"; readonly action: SettingsAction };

export class Work {
  readonly board = new Board();
  readonly runs = new Runs();
  readonly schedules = new Schedules();
  readonly usage = new Usage();
  readonly settings = new SettingsPage();

  adopt(link: Link): void {
    for (const each of this.all()) each.adopt(link);
  }

  /** Set the callback that opens sessions. */
  set onSession(open: (sessionId: string, cwd: string) => void) {
    this.runs.onSession = open;
    this.board.onSession = open;
    this.usage.onSession = open;
  }

  noteBoardChange(change: BoardChangedParams): void {
    this.board.noteChange(change);
  }

  dispose(): void {
    this.runs.dispose();
  }

  /** Keep a page up to date and report its changes. Call the result to stop. */
  follow(page: WorkPage, onChange: () => void): () => void {
    const one = this[page];
    const unlisten = one.shown.listen(onChange);
    const end = one.follow();
    return () => {
      unlisten();
      end();
    };
  }

  shown(page: WorkPage): WorkShown {
    return { page, shown: this[page].shown.value } as WorkShown;
  }

  act(given: WorkAction): Promise<void> {
    switch (given.page) {
      case "board":
        return this.board.act(given.action);
      case "runs":
        return this.runs.act(given.action);
      case "schedules":
        return this.schedules.act(given.action);
      case "usage":
        return this.usage.act(given.action);
      case "settings":
        return this.settings.act(given.action);
    }
  }

  private all(): readonly (Board | Runs | Schedules | Usage | SettingsPage)[] {
    return [this.board, this.runs, this.schedules, this.usage, this.settings];
  }
}
