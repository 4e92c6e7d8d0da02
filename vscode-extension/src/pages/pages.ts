/** A webview with pages: its state, and the user's actions. */

import * as vscode from "vscode";

import { errorText } from "../acp/error_text";
import { announces, ask } from "../acp/methods";
import type { TrustApproveItem } from "../acp/own";
import * as messages from "../messages/pages";
import type { ServerLife } from "../server/life";
import { WORK_PAGES, type Work, type WorkPage } from "../work/work";
import type { FromPages, PageName, PagesState, ToPages } from "./protocol";
import type { Setup } from "./setup";

export interface PagesParts {
  readonly setup: Setup;
  readonly life: ServerLife;
  readonly work: Work;
  /** The shown session, if it is open. The pages include its servers and files. */
  readonly sessionId: () => string | undefined;
  readonly open: (path: string, line?: number) => Promise<void>;
  /** Continue to the conversation, optionally with a first prompt. */
  readonly begin: (text: string) => Promise<void>;
}

/** Commands that a page may run. */
const COMMANDS: ReadonlySet<string> = new Set([
  "hermes.showLog",
  "hermes.openSettings",
  "hermes.restart",
  "hermes.install",
  "workbench.trust.manage",
]);
/** A sign-in is completed in a browser, so the list is polled. */
const SIGN_IN_POLLS = 60;
const POLL_MS = 2_000;

export class Pages {
  private page: PageName;
  private isBusy = false;
  private error = "";
  private notice = "";
  private lists: Pick<PagesState, "mcp" | "context" | "trust"> = {};
  private isOver = false;
  private readonly unlisten: () => void;
  /** Stops refreshing the page of runs or schedules. */
  private unfollow: () => void = () => undefined;

  constructor(
    private readonly parts: PagesParts,
    private readonly say: (message: ToPages) => void,
    private readonly isPanel: boolean,
    page: PageName,
  ) {
    this.page = page;
    this.unlisten = parts.setup.listen(() => this.show());
  }

  dispose(): void {
    this.isOver = true;
    this.unlisten();
    this.unfollow();
  }

  /** Serve one message; show an error on the page. */
  receive(message: FromPages): void {
    void this.serve(message).catch((error: unknown) => {
      this.error = errorText(error);
      this.isBusy = false;
      this.show();
    });
  }

  go(page: PageName): void {
    this.unfollow();
    this.unfollow = () => undefined;
    this.page = page;
    this.receive({ type: "refresh" });
  }

  private async serve(message: FromPages): Promise<void> {
    const { setup } = this.parts;
    switch (message.type) {
      case "ready":
      case "refresh":
        this.notice = "";
        return this.refresh();
      case "go":
        return this.go(message.page);
      case "install":
        return setup.install();
      case "start":
        return setup.look();
      case "check":
        return setup.check(message.answers);
      case "save":
        return setup.save(message.answers);
      case "begin":
        return this.parts.begin(message.text);
      case "option":
        return setup.setOption(message.option, message.isOn);
      case "server":
        return this.changeServer(message.name, message.action);
      case "revoke":
        return this.revoke(message.what);
      case "approve":
        return this.approve(message.items);
      case "open":
        return this.parts.open(message.path, message.line);
      case "work":
        return this.parts.work.act(message.work);
      case "run":
        if (COMMANDS.has(message.command)) await vscode.commands.executeCommand(message.command);
    }
  }

  private async refresh(): Promise<void> {
    this.error = "";
    if (this.page === "setup") return this.parts.setup.look();
    this.isBusy = true;
    this.show();
    if (isWork(this.page)) await this.follow(this.page);
    else await this.list();
    this.isBusy = false;
    this.show();
  }

  /** Refresh the page of runs or schedules while it is shown. */
  private async follow(page: WorkPage): Promise<void> {
    const { life, work } = this.parts;
    await life.link();
    if (!work[page].isThere.value) throw new Error(messages.SERVER_TOO_OLD);
    this.unfollow();
    if (!this.isOver && this.page === page) this.unfollow = work.follow(page, () => this.show());
  }

  /** Request the page's content. */
  private async list(): Promise<void> {
    const [folder, ...more] = folders();
    if (!folder) throw new Error(messages.NO_FOLDER);
    const link = await this.parts.life.link();
    if (!announces(link, "overviews")) throw new Error(messages.SERVER_TOO_OLD);
    const sessionId = this.parts.sessionId();
    const named = { cwd: folder, ...(sessionId ? { sessionId } : {}) };
    if (this.page === "mcp") this.lists = { mcp: await ask(link, "_hermes/mcp/list", named) };
    else if (this.page === "context")
      this.lists = { context: await ask(link, "_hermes/context/list", { ...named, roots: more }) };
    else this.lists = { trust: await ask(link, "_hermes/trust/list", { cwd: folder }) };
  }

  private async changeServer(name: string, action: Extract<FromPages, { type: "server" }>["action"]): Promise<void> {
    this.isBusy = true;
    this.show();
    const sessionId = this.parts.sessionId();
    const link = await this.parts.life.link();
    const done = await ask(link, "_hermes/mcp/change", { name, action, ...(sessionId ? { sessionId } : {}) });
    this.notice = messages.serverNotice(name, done.text);
    if (done.link) await vscode.env.openExternal(vscode.Uri.parse(done.link, true));
    await this.refresh();
    if (done.link) await this.waitForSignIn(name);
  }

  private async waitForSignIn(name: string): Promise<void> {
    for (let poll = 0; poll < SIGN_IN_POLLS && !this.isOver && this.page === "mcp"; poll += 1) {
      if (this.lists.mcp?.servers.find((each) => each.name === name)?.isConnected) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      await this.list();
      this.show();
    }
  }

  private async revoke(what: "items" | "grants"): Promise<void> {
    const [folder] = folders();
    if (!folder) return;
    await ask(await this.parts.life.link(), "_hermes/trust/revoke", { cwd: folder, what });
    await this.refresh();
    this.notice = what === "items" ? messages.TRUST_REVOKED : messages.ANSWERS_FORGOTTEN;
    this.show();
  }

  private async approve(items: readonly TrustApproveItem[]): Promise<void> {
    const [folder] = folders();
    if (!folder) return;
    const params = { cwd: folder, items: [...items] };
    const { approved } = await ask(await this.parts.life.link(), "_hermes/trust/approve", params);
    await this.refresh();
    this.notice = approved === items.length ? messages.TRUST_GIVEN : messages.CHANGED_SINCE;
    this.show();
  }

  private show(): void {
    if (this.isOver) return;
    const { page, isPanel, isBusy, error, notice, lists } = this;
    const [folder = ""] = folders();
    const state = { page, isPanel, isBusy, error, notice, folder, setup: this.parts.setup.state, ...lists };
    this.say({ type: "state", state: isWork(page) ? { ...state, work: this.parts.work.shown(page) } : state });
  }
}

function isWork(page: PageName): page is WorkPage {
  return (WORK_PAGES as readonly string[]).includes(page);
}

function folders(): readonly string[] {
  const all = vscode.workspace.workspaceFolders ?? [];
  return all.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}
