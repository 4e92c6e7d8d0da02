/** The settings that are safe to change from a client. */

import { ask } from "../acp/methods";
import type { SettingsListSetting } from "../acp/own";
import { Served } from "./served";

export interface SettingsShown {
  readonly settings: readonly SettingsListSetting[];
  readonly problem: string;
}

/** An empty value is the default. */
export type SettingsAction = { readonly type: "change"; readonly name: string; readonly value: string };

export class SettingsPage extends Served<SettingsShown> {
  constructor() {
    super("settings", { settings: [], problem: "" });
  }

  /** Load once, because changing a setting reloads. */
  follow(): () => void {
    void this.look(() => this.refresh());
    return () => undefined;
  }

  async act({ name, value }: SettingsAction): Promise<void> {
    await this.work(async (link) => {
      await ask(link, "_hermes/settings/change", { name, value });
      await this.refresh();
    });
  }

  private async refresh(): Promise<void> {
    await this.look(async (link) => {
      const { settings } = await ask(link, "_hermes/settings/list", {});
      this.change({ settings });
    });
  }
}
