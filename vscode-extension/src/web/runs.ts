/**
 * Runs: work without a client, with the questions that wait for a person.
 *
 * Knows: `_hermes/runs/*`, when to look again. Does not know: how runs are drawn.
 */

import { errorText } from "../acp/error_text";
import type { Link } from "../acp/link";
import { announces, ask } from "../acp/methods";
import type { RunsListRun, RunsShowQuestion } from "../acp/own";
import { Observable } from "./observable";

export interface RunsShown {
  readonly runs: readonly RunsListRun[];
  /** Whether a process is there that drives runs. */
  readonly isDriven: boolean;
  /** The run that is looked at, and what it asks; empty where the list is. */
  readonly open: string;
  readonly questions: readonly RunsShowQuestion[];
  readonly problem: string;
}

const NOTHING: RunsShown = { runs: [], isDriven: true, open: "", questions: [], problem: "" };

export class Runs {
  readonly shown = new Observable<RunsShown>(NOTHING);
  /** Whether the server has runs at all. */
  readonly areThere = new Observable(false);
  private link: Link | undefined;

  adopt(link: Link): void {
    this.link = announces(link, "runs") ? link : undefined;
    this.areThere.set(this.link !== undefined);
  }

  /** Look again at what is shown. */
  refresh(): Promise<void> {
    return this.work(async (link) => {
      const { runs, isDriven } = await ask(link, "_hermes/runs/list", {});
      this.change({ runs, isDriven });
      const { open } = this.shown.value;
      const questions = open ? (await ask(link, "_hermes/runs/show", { id: open })).questions : [];
      // Drawn anew, what somebody is writing in an answer would be lost.
      if (JSON.stringify(questions) !== JSON.stringify(this.shown.value.questions)) this.change({ questions });
    });
  }

  /** Look at one run; empty for the list. */
  look(id: string): Promise<void> {
    this.change({ open: id, questions: [], problem: "" });
    return this.refresh();
  }

  answer(id: string, callId: string, isAllowed: boolean, text: string): Promise<void> {
    return this.work(async (link) => {
      await ask(link, "_hermes/runs/answer", { id, callId, isAllowed, text });
      await this.refresh();
    });
  }

  stop(id: string): Promise<void> {
    return this.work(async (link) => {
      await ask(link, "_hermes/runs/stop", { id });
      await this.refresh();
    });
  }

  private async work(work: (link: Link) => Promise<void>): Promise<void> {
    if (!this.link) return;
    try {
      this.change({ problem: "" });
      await work(this.link);
    } catch (error) {
      this.change({ problem: errorText(error) });
    }
  }

  private change(changes: Partial<RunsShown>): void {
    this.shown.set({ ...this.shown.value, ...changes });
  }
}
