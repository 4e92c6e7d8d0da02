/** The setup of a working model: the server, a provider and its key, and a test call. */

import * as vscode from "vscode";

import type { Link } from "../acp/link";
import { errorText } from "../acp/error_text";
import { announces, ask } from "../acp/methods";
import * as messages from "../messages/pages";
import { NO_PACKAGE, NOT_INSTALLED, SHOW_LOG } from "../messages/server";
import type { Installer } from "../server/installer";
import type { ServerLife } from "../server/life";
import { locateServer, wantedServer } from "../server/located";
import { FIXES } from "../panel/banner";
import type { Answers, SetupState } from "./protocol";

/** Whether a model was configured at the last check. */
const KEPT = "setUp";
const ACTIONS = "lsp.enabled";
const COMPLETION = "lsp.inlineCompletion";

export class Setup {
  state: SetupState = {
    server: { phase: "looking" },
    installation: { phase: "idle" },
    trial: { phase: "idle" },
    ...options(),
  };
  private readonly listeners = new Set<() => void>();
  /** Older servers cannot report whether a model is set up. The first prompt shows it. */
  private isOlder = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly life: ServerLife,
    private readonly installer: Installer,
  ) {}

  /** Listen for changes. Call the result to stop. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether a server exists, and a model was configured at the last check. */
  async wasDone(): Promise<boolean> {
    if (!this.context.globalState.get<boolean>(KEPT, false)) return false;
    if (!(await locateServer(this.context))) return false;
    await Promise.all(["hasServer", "hasModel"].map((name) => setContext(name, true)));
    return true;
  }

  get isDone(): boolean {
    return this.state.server.phase === "ready" && (this.isOlder || this.state.status?.isReady === true);
  }

  /** A prompt was refused because no model is set up. */
  async noteMissing(): Promise<void> {
    await this.keep(false);
  }

  /** Show the progress of the installation. */
  noteInstallation(): void {
    this.change({ installation: this.installer.state });
  }

  /** A server is running, whoever started it. A shown setup continues from there. */
  noteServer(): void {
    if (this.listeners.size > 0 && ["missing", "failed"].includes(this.state.server.phase)) void this.look();
  }

  /** Find and start the server, and ask which model it would use. */
  async look(): Promise<void> {
    this.change({ server: { phase: "looking" }, ...options() });
    const command = await locateServer(this.context);
    if (!command) {
      const canInstall = (await wantedServer(this.context)) !== undefined;
      this.change({ server: { phase: "missing", text: canInstall ? NOT_INSTALLED : NO_PACKAGE, canInstall } });
      await this.keep(false);
      return;
    }
    this.change({ server: { phase: "starting" } });
    try {
      const link = await this.life.link();
      const version = link.greeting.agentInfo?.version ?? "";
      this.change({ server: { phase: "ready", version, source: command.source } });
      await this.readStatus(link);
    } catch (error) {
      const { state } = this.life;
      const fix = state.phase === "failed" ? FIXES[state.fix] : { command: "hermes.showLog", title: SHOW_LOG };
      this.change({ server: { phase: "failed", text: errorText(error), fix } });
    }
  }

  async install(): Promise<void> {
    const wanted = await wantedServer(this.context);
    if (!wanted) return this.look();
    await this.life.stop();
    if (await this.installer.install(wanted)) await this.look();
  }

  /** Make a test call with the answers. The key is sent only to the server, and not stored here. */
  async check(answers: Answers): Promise<void> {
    this.change({ trial: { phase: "running" } });
    try {
      const result = await ask(await this.life.link(), "_hermes/setup/check", answers);
      this.change({ trial: { phase: "done", ...result } });
    } catch (error) {
      this.change({ trial: { phase: "refused", text: errorText(error) } });
    }
  }

  async save(answers: Answers): Promise<void> {
    try {
      const link = await this.life.link();
      const { overriddenBy, configFile } = await ask(link, "_hermes/setup/save", answers);
      const note = overriddenBy.length > 0 ? messages.overridden(overriddenBy.join(", ")) : messages.saved(configFile);
      this.change({ saved: { note } });
      await this.readStatus(link);
    } catch (error) {
      this.change({ trial: { phase: "refused", text: errorText(error) } });
    }
  }

  async setOption(option: "actions" | "completion", isOn: boolean): Promise<void> {
    const settings = vscode.workspace.getConfiguration("hermes");
    const name = option === "actions" ? ACTIONS : COMPLETION;
    await settings.update(name, isOn, vscode.ConfigurationTarget.Global);
    // The language server also provides completions.
    if (option === "completion" && isOn) await settings.update(ACTIONS, true, vscode.ConfigurationTarget.Global);
    this.change(options());
  }

  private async readStatus(link: Link): Promise<void> {
    this.isOlder = !announces(link, "setup");
    if (this.isOlder) {
      await this.keep(true);
      this.change({});
      return;
    }
    const status = await ask(link, "_hermes/setup/status", {});
    this.change({ status });
    await this.keep(status.isReady);
  }

  private async keep(isReady: boolean): Promise<void> {
    await setContext("hasModel", isReady);
    await this.context.globalState.update(KEPT, isReady);
  }

  private change(news: Partial<SetupState>): void {
    this.state = { ...this.state, ...news };
    if (news.server) void setContext("hasServer", news.server.phase === "ready");
    for (const listener of this.listeners) listener();
  }
}

/** Set context keys for conditions in package.json, which tick the walkthrough's steps. */
function setContext(name: string, value: boolean): Thenable<unknown> {
  return vscode.commands.executeCommand("setContext", `hermes.${name}`, value);
}

function options(): Pick<SetupState, "offersActions" | "offersCompletion"> {
  const settings = vscode.workspace.getConfiguration("hermes");
  const offersActions = settings.get<boolean>(ACTIONS, false);
  return { offersActions, offersCompletion: offersActions && settings.get<boolean>(COMPLETION, false) };
}
