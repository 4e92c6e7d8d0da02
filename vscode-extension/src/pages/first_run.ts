/** The panel's first run: the setup until a model is configured, then the conversation. */

import type * as vscode from "vscode";

import type { Setup } from "./setup";
import type { PageTab } from "./tab";

type OnOver = (over: () => void) => void;

export class FirstRun {
  /** Callbacks that let each waiting panel continue. */
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly setup: Setup,
    private readonly tab: PageTab,
  ) {}

  /** Show the setup in a panel if necessary, and settle once the user continues or nothing is missing. */
  async prepare(webview: vscode.Webview, onOver: OnOver): Promise<void> {
    if (await this.setup.wasDone()) return;
    const { end } = this.tab.attach(webview, "setup", true);
    await new Promise<void>((resolve) => {
      this.waiting.add(resolve);
      onOver(resolve);
      // A setup completed elsewhere needs no further click. One completed here ends with suggestions for a first prompt.
      const unlisten = this.setup.listen(() => {
        if (!this.setup.isDone || this.setup.state.saved) return;
        unlisten();
        resolve();
      });
    });
    end();
  }

  /** Continue from the setup to the conversation, wherever the panel is. */
  goOn(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}
