/** The single installation of the server that can be in progress, and its state. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import type { Installation } from "../pages/protocol";
import { noteInstalled, type Bundled } from "./bundled";
import { install, InstallError } from "./install";

export interface Wanted {
  /** The requirement for pip or uv. */
  readonly requirement: string;
  /** The extension's wheel, if it is to be installed. */
  readonly bundled?: Bundled;
}

export class Installer {
  state: Installation = { phase: "idle" };
  private running: Promise<boolean> | undefined;

  constructor(
    /** The folder that the extension may write to. */
    private readonly storage: string,
    private readonly onState: (state: Installation) => void,
    private readonly log: (line: string) => void,
  ) {}

  /** Install, unless an installation is in progress, and return whether it succeeded. */
  install(wanted: Wanted): Promise<boolean> {
    this.running ??= this.make(wanted).finally(() => (this.running = undefined));
    return this.running;
  }

  private async make({ requirement, bundled }: Wanted): Promise<boolean> {
    const folder = join(this.storage, "server");
    let step = "";
    const report = {
      step: (what: string) => {
        step = what;
        this.log(what);
        this.show({ phase: "running", step, line: "" });
      },
      line: (line: string) => {
        this.log(line);
        this.show({ phase: "running", step, line });
      },
    };
    try {
      await mkdir(this.storage, { recursive: true });
      await install(folder, requirement, report);
      if (bundled) await noteInstalled(folder, bundled.digest);
      this.show({ phase: "idle" });
      return true;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.show({ phase: "failed", text, details: error instanceof InstallError ? error.details : "" });
      return false;
    }
  }

  private show(state: Installation): void {
    this.state = state;
    this.onState(state);
  }
}
