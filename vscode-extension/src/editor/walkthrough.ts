/** Tick the walkthrough's steps that were done before it was opened: VS Code only notices changes while it is open. */

import * as vscode from "vscode";

import type { Setup } from "../pages/setup";
import type { Store } from "../state/store";

export const STEPS = ["server", "model", "ask", "review"] as const;

export class Walkthrough implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly setup: Pick<Setup, "wasDone" | "isDone" | "state">,
    private readonly store: Store,
  ) {
    this.subscription = vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
      // A walkthrough's tab has no input that extensions know. Few other tabs are like that, and ticking again does no harm.
      if (opened.some(({ input }) => input === undefined)) void this.tick();
    });
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private async tick(): Promise<void> {
    const wasDone = await this.setup.wasDone();
    const items = this.store.all().flatMap((session) => session.items);
    const done: Readonly<Record<(typeof STEPS)[number], boolean>> = {
      server: wasDone || this.setup.state.server.phase === "ready",
      model: wasDone || this.setup.isDone,
      ask: items.some(({ type }) => type === "user"),
      review: items.some((item) => item.type === "call" && Object.keys(item.verdicts).length > 0),
    };
    for (const step of STEPS) {
      const name = `hermes.walkthrough.${step}`;
      if (done[step]) await vscode.commands.executeCommand("setContext", name, true);
    }
  }
}
