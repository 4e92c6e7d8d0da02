/** Runs, and items waiting for the user that no session here shows. */

import type { Link } from "../acp/link";
import { announces, ask } from "../acp/methods";
import type { RunsListRun, RunsShowQuestion, WaitingListWaiting } from "../acp/own";
import { Served } from "./served";

export interface RunsShown {
  readonly waiting: readonly WaitingListWaiting[];
  readonly runs: readonly RunsListRun[];
  /** Whether a running process works on runs. */
  readonly isDriven: boolean;
  /** The open run and its questions, or empty for the list. */
  readonly open: string;
  readonly questions: readonly RunsShowQuestion[];
  readonly problem: string;
}

export type RunsAction =
  /** Show a run or, without an ID, the list. */
  | { readonly type: "look"; readonly id: string }
  | {
      readonly type: "answer";
      readonly id: string;
      readonly callId: string;
      readonly isAllowed: boolean;
      readonly text: string;
    }
  | { readonly type: "stop"; readonly id: string }
  | { readonly type: "openSession"; readonly sessionId: string; readonly cwd: string };

const NOTHING: RunsShown = { waiting: [], runs: [], isDriven: true, open: "", questions: [], problem: "" };
const MAX_RUNS = 200;
const POLL_MS = 10_000;
const LOOKED_AT_POLL_MS = 4_000;

export class Runs extends Served<RunsShown> {
  /** Open the session of a run or a question. */
  onSession: (sessionId: string, cwd: string) => void = () => undefined;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super("runs", NOTHING);
  }

  override adopt(link: Link): void {
    super.adopt(link);
    clearInterval(this.timer);
    if (!announces(link, "waiting")) return;
    const poll = () => void (link.isClosed ? this.dispose() : this.countWaiting());
    this.timer = setInterval(poll, POLL_MS);
    poll();
  }

  dispose(): void {
    clearInterval(this.timer);
  }

  /** Refresh every few seconds. Call the result to stop. */
  follow(): () => void {
    void this.refresh();
    const timer = setInterval(() => void this.refresh(), LOOKED_AT_POLL_MS);
    return () => clearInterval(timer);
  }

  async act(action: RunsAction): Promise<void> {
    switch (action.type) {
      case "look":
        this.change({ open: action.id, questions: [], problem: "" });
        return this.refresh();
      case "answer": {
        const { id, callId, isAllowed, text } = action;
        if (
          await this.work(
            async (link) => void (await ask(link, "_hermes/runs/answer", { id, callId, isAllowed, text })),
          )
        )
          await this.refresh();
        return;
      }
      case "stop":
        if (await this.work(async (link) => void (await ask(link, "_hermes/runs/stop", { id: action.id }))))
          await this.refresh();
        return;
      case "openSession":
        this.onSession(action.sessionId, action.cwd);
    }
  }

  /** Refresh the shown data. */
  async refresh(): Promise<void> {
    await this.countWaiting();
    await this.look(async (link) => {
      const { runs, isDriven } = await ask(link, "_hermes/runs/list", { limit: MAX_RUNS });
      this.change({ runs, isDriven });
      const { open } = this.shown.value;
      const questions = open ? (await ask(link, "_hermes/runs/show", { id: open })).questions : [];
      // The user may have opened another run in the meantime, so its answers do not belong to these questions.
      if (this.shown.value.open !== open) return;
      // Redrawing would lose an answer that is being written.
      if (JSON.stringify(questions) !== JSON.stringify(this.shown.value.questions)) this.change({ questions });
    });
  }

  private async countWaiting(): Promise<void> {
    await this.look(async (link) => {
      if (!announces(link, "waiting")) return;
      const { waiting } = await ask(link, "_hermes/waiting/list", {});
      if (JSON.stringify(waiting) !== JSON.stringify(this.shown.value.waiting)) this.change({ waiting });
    });
  }
}
