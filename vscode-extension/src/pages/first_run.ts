/**
 * The panel until a model is set up: the setup, and then the conversation in its place.
 *
 * Knows: when the one gives way to the other. Does not know: what either shows.
 */

import type * as vscode from "vscode";

import type { Setup } from "./setup";
import type { PageTab } from "./tab";

type OnOver = (over: () => void) => void;

export class FirstRun {
  /** What lets each waiting panel go on. */
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly setup: Setup,
    private readonly tab: PageTab,
  ) {}

  /** Show the setup in a panel if it is needed; settle when the user goes on, or nothing is missing. */
  async prepare(webview: vscode.Webview, onOver: OnOver): Promise<void> {
    if (await this.setup.wasDone()) return;
    const { end } = this.tab.attach(webview, "setup", true);
    await new Promise<void>((resolve) => {
      this.waiting.add(resolve);
      onOver(resolve);
      // What was set up elsewhere needs no further click; what is set up here ends with what to ask first.
      const unlisten = this.setup.listen(() => {
        if (!this.setup.isDone || this.setup.state.saved) return;
        unlisten();
        resolve();
      });
    });
    end();
  }

  /** Go on from the setup to the conversation, wherever the panel is. */
  goOn(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}
